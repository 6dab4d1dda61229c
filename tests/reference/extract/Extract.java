// Types, methods and constructors by javac's own parser: paths on standard input, one JSON line a file on
// standard output. Run as `java Extract.java`.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

public class Extract {
    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray())
            out.append(c == '"' || c == '\\' ? "\\" + c : c < 32 ? String.format("\\u%04x", (int) c) : "" + c);
        return out.append('"').toString();
    }

    static final class Rows extends TreeScanner<Void, List<String>> {
        final List<String> rows = new ArrayList<>();
        final CompilationUnitTree unit;
        final SourcePositions positions;
        final String text;

        Rows(CompilationUnitTree unit, SourcePositions positions, String text) {
            this.unit = unit;
            this.positions = positions;
            this.text = text;
        }

        int line(long at) {
            int line = 1;
            for (int i = text.indexOf('\n'); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++;
            return line;
        }

        List<String> within(List<String> parents, String name) {
            List<String> names = new ArrayList<>(parents);
            names.add(name);
            return names;
        }

        List<String> row(List<String> parents, String name, Tree node) {
            List<String> names = within(parents, name);
            long start = positions.getStartPosition(unit, node), end = positions.getEndPosition(unit, node);
            rows.add("{\"symbol\": " + quoted(String.join(".", names)) + ", \"start\": " + line(start)
                + ", \"end\": " + line(end - 1) + "}");
            return names;
        }

        @Override public Void visitClass(ClassTree node, List<String> parents) {
            // A body without a name qualifies nothing.
            boolean named = node.getSimpleName().length() > 0;
            return super.visitClass(node, named ? row(parents, node.getSimpleName().toString(), node) : parents);
        }

        @Override public Void visitMethod(MethodTree node, List<String> parents) {
            if (positions.getEndPosition(unit, node) < 0) return null; // made up by the compiler
            String name = node.getName().toString();
            boolean made = name.equals("<init>");
            return super.visitMethod(node, row(parents, made ? parents.get(parents.size() - 1) : name, node));
        }

        @Override public Void visitVariable(VariableTree node, List<String> parents) {
            return super.visitVariable(node, fields.contains(node) ? within(parents, node.getName().toString()) : parents);
        }

        final Set<Tree> fields = Collections.newSetFromMap(new IdentityHashMap<>());
    }

    public static void main(String[] given) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        BufferedReader paths = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
        for (String path = paths.readLine(); path != null; path = paths.readLine()) {
            String text = Files.readString(Path.of(path));
            DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
            StandardJavaFileManager files = compiler.getStandardFileManager(said, null, StandardCharsets.UTF_8);
            JavacTask task = (JavacTask) compiler.getTask(null, files, said, List.of("-proc:none"), null,
                files.getJavaFileObjects(path));
            CompilationUnitTree unit = task.parse().iterator().next();
            Optional<Diagnostic<? extends JavaFileObject>> error = said.getDiagnostics().stream()
                .filter(d -> d.getKind() == Diagnostic.Kind.ERROR).findFirst();
            if (error.isPresent()) {
                out.println("{\"path\": " + quoted(path) + ", \"error\": " + quoted(error.get().getMessage(null)) + "}");
                continue;
            }
            Rows rows = new Rows(unit, Trees.instance(task).getSourcePositions(), text);
            new TreeScanner<Void, Void>() {
                @Override public Void visitClass(ClassTree node, Void nothing) {
                    for (Tree member : node.getMembers()) if (member instanceof VariableTree) rows.fields.add(member);
                    return super.visitClass(node, nothing);
                }
            }.scan(unit, null);
            rows.scan(unit, new ArrayList<>());
            out.println("{\"path\": " + quoted(path) + ", \"rows\": [" + String.join(", ", rows.rows) + "]}");
        }
    }
}
