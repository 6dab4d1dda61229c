// Functions, methods and types by go/parser: paths on standard input, one JSON line a file on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

type row struct {
	Symbol string `json:"symbol"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
}

type answer struct {
	Path  string `json:"path"`
	Error string `json:"error,omitempty"`
	Rows  []row  `json:"rows"`
}

type finder struct {
	tokens  *token.FileSet
	parents []string
	rows    *[]row
	file    bool // whether this is the file's own level
}

func (f finder) add(name string, from, to token.Pos) finder {
	names := append(append([]string{}, f.parents...), name)
	start, end := f.tokens.PositionFor(from, false), f.tokens.PositionFor(to-1, false)
	*f.rows = append(*f.rows, row{strings.Join(names, "."), start.Line, end.Line})
	return finder{f.tokens, names, f.rows, false}
}

func (f finder) within(name string) finder {
	return finder{f.tokens, append(append([]string{}, f.parents...), name), f.rows, false}
}

func (f finder) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.FuncDecl:
		to := f
		if n.Recv != nil && len(n.Recv.List) > 0 {
			to = f.within(base(n.Recv.List[0].Type))
		}
		inside := to.add(n.Name.Name, n.Pos(), n.End())
		if n.Body != nil {
			ast.Walk(inside, n.Body)
		}
		return nil
	case *ast.GenDecl:
		if n.Tok != token.TYPE {
			return f
		}
		for _, spec := range n.Specs {
			named := spec.(*ast.TypeSpec)
			from, to := named.Pos(), named.End()
			if len(n.Specs) == 1 {
				from, to = n.Pos(), n.End()
			}
			inside := f.add(named.Name.Name, from, to)
			if listed, ok := named.Type.(*ast.InterfaceType); ok {
				for _, method := range listed.Methods.List {
					for _, name := range method.Names {
						inside.add(name.Name, method.Pos(), method.End())
					}
				}
			}
		}
		return nil
	case *ast.ValueSpec:
		if f.file && len(n.Names) == 1 {
			return f.within(n.Names[0].Name)
		}
	}
	return f
}

func base(of ast.Expr) string {
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.ParenExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		tokens, found := token.NewFileSet(), answer{Path: lines.Text(), Rows: []row{}}
		file, err := parser.ParseFile(tokens, found.Path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			found.Error = err.Error()
		} else {
			ast.Walk(finder{tokens, nil, &found.Rows, true}, file)
		}
		if err := out.Encode(found); err != nil {
			panic(err)
		}
	}
}
