// Declarations of TypeScript, TSX and JavaScript by the TypeScript compiler.
// Paths on standard input, one JSON line a file on standard output.
"use strict";
const fs = require("fs");
const { answer, lines } = require("./common.cjs");
const ts = require("typescript");
const K = ts.SyntaxKind;

const SUITES = new Set(["describe", "it", "test", "suite", "context", "specify"]);
const bare = (n) => (n && n.kind === K.ParenthesizedExpression ? n.expression : n);
const isFunction = (n) => n && (n.kind === K.ArrowFunction || n.kind === K.FunctionExpression);
const tidy = (text) => text.replace(/\s+/g, " ").trim();
const isObject = (n) => n && n.kind === K.ObjectLiteralExpression;
const isClass = (n) => n && n.kind === K.ClassExpression;

/** A component of React in `memo` or `forwardRef`, or in both. */
function isComponent(node, file) {
  if (!node || node.kind !== K.CallExpression) return false;
  const callee = node.expression.getText(file).replace(/^React\./, "");
  if (callee === "observer" && node.expression.kind !== K.Identifier) return false;
  if (!["memo", "forwardRef", "observer"].includes(callee)) return false;
  return node.arguments.some((n) => isFunction(n) || (callee !== "forwardRef" && isForwarded(n, file)));
}

function isForwarded(node, file) {
  if (node.kind !== K.CallExpression || !node.arguments.some(isFunction)) return false;
  return ["forwardRef", "React.forwardRef"].includes(node.expression.getText(file));
}

function scriptKind(path) {
  if (/\.tsx$/i.test(path)) return ts.ScriptKind.TSX;
  if (/\.[cm]?ts$/i.test(path)) return ts.ScriptKind.TS;
  return ts.ScriptKind.JSX;
}

/** The text of a name: without quotes, of a computed one with its brackets. */
function named(name, file) {
  if (!name) return undefined;
  if (name.kind === K.StringLiteral || name.kind === K.NoSubstitutionTemplateLiteral)
    return tidy(name.getText(file).slice(1, -1));
  return tidy(name.getText(file));
}

/** The names that an assignment's left side says: `A.prototype.b` is A, b; `exports.f` is f. */
function assigned(left, file) {
  if (left.kind === K.Identifier) return [left.text];
  if (left.kind !== K.PropertyAccessExpression) return undefined;
  const owner = left.expression.getText(file);
  if (!/^[\w$#]+(\s*\.\s*[\w$#]+)*$/.test(owner)) return undefined;
  if (owner === "module" && left.name.text === "exports") return ["default"];
  const parts = owner.split(/\s*\.\s*/).filter((p) => !["prototype", "this", "exports", "module"].includes(p));
  return [...parts, left.name.text];
}

function extract(path, text = fs.readFileSync(path, "utf8")) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, scriptKind(path));
  if (file.parseDiagnostics.length) {
    const first = file.parseDiagnostics[0];
    return { path, error: ts.flattenDiagnosticMessageText(first.messageText, " ") };
  }
  const line = lines(text);
  const rows = [];
  const add = (names, node, end) => {
    rows.push({ symbol: names.join("."), start: line(node.getStart(file)), end: line((end ?? node.end) - 1) });
    return names;
  };
  const atModule = (node) => {
    for (let up = node.parent; up; up = up.parent)
      if (ts.isFunctionLike(up) || up.kind === K.ClassStaticBlockDeclaration) return false;
    return true;
  };
  const ofNamedType = (node) => {
    // Of an interface or of what a type alias stands for; the members of an anonymous type declare nothing.
    let up = node.parent;
    while ([K.TypeLiteral, K.IntersectionType, K.UnionType, K.ParenthesizedType, K.ConditionalType].includes(up.kind)) up = up.parent;
    return up.kind === K.InterfaceDeclaration || up.kind === K.TypeAliasDeclaration;
  };
  const outer = (node) => {
    // A declaration that stands alone in its list has the range of the whole statement.
    const list = node.parent;
    if (list.kind !== K.VariableDeclarationList || list.declarations.length > 1) return node;
    return list.parent.kind === K.VariableStatement ? list.parent : list;
  };

  function inside(node, parents) {
    switch (node.kind) {
      case K.FunctionDeclaration:
      case K.ClassDeclaration:
        return add([...parents, node.name ? node.name.text : "default"], node);
      case K.ClassExpression: {
        // One that is assigned has the name of what it is assigned to.
        const up = node.parent.kind;
        const assigned = up === K.BinaryExpression && node.parent.operatorToken.kind === K.EqualsToken;
        if (!node.name || assigned || up === K.VariableDeclaration || up === K.ExportAssignment) return parents;
        return add([...parents, node.name.text], node);
      }
      case K.InterfaceDeclaration:
      case K.EnumDeclaration:
      case K.TypeAliasDeclaration:
        return add([...parents, node.name.text], node);
      case K.ModuleDeclaration: {
        if (node.parent.kind === K.ModuleDeclaration) return parents;
        if (node.name.text === "global" && node.flags & ts.NodeFlags.GlobalAugmentation) return parents;
        const names = [named(node.name, file)];
        for (let body = node.body; body && body.kind === K.ModuleDeclaration; body = body.body)
          names.push(body.name.text);
        return add([...parents, ...names], node);
      }
      case K.MethodDeclaration:
      case K.GetAccessor:
      case K.SetAccessor:
        if (node.parent.kind === K.TypeLiteral && !ofNamedType(node)) return parents;
        return add([...parents, named(node.name, file)], node);
      case K.MethodSignature:
        if (!ofNamedType(node)) return parents;
        return add([...parents, named(node.name, file)], node);
      case K.Constructor:
        return add([...parents, "constructor"], node);
      case K.PropertyDeclaration:
        if (isFunction(node.initializer)) return add([...parents, named(node.name, file)], node);
        return [...parents, named(node.name, file)];
      case K.VariableDeclaration:
        if (node.name.kind !== K.Identifier) return parents;
        if (isFunction(bare(node.initializer)) || isComponent(node.initializer, file) || isClass(node.initializer))
          return add([...parents, node.name.text], outer(node));
        return atModule(node) || isObject(node.initializer) ? [...parents, node.name.text] : parents;
      case K.BinaryExpression: {
        if (node.operatorToken.kind !== K.EqualsToken) return parents;
        if (isObject(node.right)) {
          const left = node.left.getText(file);
          if (!/^[\w$#]+(\s*\.\s*[\w$#]+)*$/.test(left)) return parents;
          const owners = left.split(/\s*\.\s*/);
          return [...parents, ...owners.filter((p) => !["prototype", "this", "exports", "module"].includes(p))];
        }
        if (!isFunction(node.right) && !isClass(node.right)) return parents;
        const names = assigned(node.left, file);
        if (!names) return parents;
        return add([...parents, ...names], node.parent.kind === K.ExpressionStatement ? node.parent : node);
      }
      case K.PropertyAssignment:
        if (isFunction(node.initializer)) return add([...parents, named(node.name, file)], node);
        if (isObject(node.initializer)) return [...parents, named(node.name, file)];
        return parents;
      case K.ExportAssignment:
        if (node.isExportEquals) return parents;
        if (isFunction(node.expression) || isClass(node.expression)) return add([...parents, "default"], node);
        return [K.ObjectLiteralExpression, K.CallExpression, K.ArrayLiteralExpression, K.NewExpression].includes(
          node.expression.kind)
          ? [...parents, "default"] : parents;
      case K.CallExpression: {
        let callee = node.expression.getText(file).split(".");
        if (node.expression.kind === K.CallExpression) {
          const table = node.expression.expression.getText(file);
          if (!["describe.each", "it.each", "test.each"].includes(table)) return parents;
          callee = ["test"];
        }
        const title = node.arguments[0];
        const suite = SUITES.has(callee[0]) &&
          (callee.length === 1 || (callee.length === 2 && ["only", "skip", "describe"].includes(callee[1])));
        if (!suite || !title || !ts.isStringLiteralLike(title) && title.kind !== K.TemplateExpression) return parents;
        if (!node.arguments.some(isFunction)) return parents;
        return [...parents, tidy(title.getText(file).slice(1, -1))];
      }
      default:
        return parents;
    }
  }

  const pending = [[file, []]];
  while (pending.length) {
    const [node, parents] = pending.pop();
    if (node.kind === K.Decorator) continue; // it belongs to its declaration and holds none
    const names = inside(node, parents);
    ts.forEachChild(node, (child) => void pending.push([child, names]));
  }
  return { path, rows };
}

module.exports = { extract };
if (require.main === module) answer((path) => extract(path));
