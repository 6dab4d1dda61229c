import com.intellij.openapi.util.Disposer;
import com.intellij.psi.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.jetbrains.kotlin.cli.FrontendConfigurationKeysKt;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.idea.KotlinLanguage;
import org.jetbrains.kotlin.psi.*;

/** Declarations by Kotlin's own parser: paths on standard input, one JSON line a file on standard output. */
class Kotlin {
  static String json(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("[\\x00-\\x1f]", " ") + '"';
  }

  static int line(String text, int offset) {
    return (int) text.substring(0, offset).chars().filter(c -> c == '\n').count() + 1;
  }

  final String text;
  final List<String> rows = new ArrayList<>();

  Kotlin(String text) {
    this.text = text;
  }

  void row(String name, PsiElement from, PsiElement to) {
    int start = from.getTextRange().getStartOffset();
    PsiElement first = from.getFirstChild();
    while (first instanceof PsiWhiteSpace || first instanceof PsiComment) first = first.getNextSibling();
    if (first != null) start = first.getTextRange().getStartOffset();
    int end = to.getTextRange().getEndOffset();
    rows.add(String.format("{\"symbol\":%s,\"start\":%d,\"end\":%d}", json(name), line(text, start), line(text, end - 1)));
  }

  void walk(PsiElement element, String parents, boolean member) {
    for (PsiElement child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
      String inside = parents;
      boolean holds = child instanceof KtFile || child instanceof KtClassBody || child instanceof KtScript
          || child instanceof KtBlockExpression && child.getParent() instanceof KtScript;
      String name = null;
      if (child instanceof KtSecondaryConstructor) name = "constructor";
      else if (child instanceof KtObjectDeclaration o) {
        if (!o.isObjectLiteral()) name = o.getName();
      } else if (child instanceof KtClassOrObject || child instanceof KtTypeAlias || child instanceof KtNamedFunction) {
        name = ((KtNamedDeclaration) child).getName();
      } else if (child instanceof KtProperty p && member) name = p.getName();
      else if (child instanceof KtDestructuringDeclaration d && member)
        for (var entry : d.getEntries()) row(parents + entry.getName(), d, d);
      if (name != null) {
        row(parents + name, child, child);
        inside = parents + name + ".";
      }
      walk(child, inside, holds);
    }
  }

  public static void main(String[] given) throws Exception {
    System.setProperty("idea.use.native.fs.for.win", "false");
    System.setProperty("java.awt.headless", "true");
    var disposable = Disposer.newDisposable();
    var configuration = new CompilerConfiguration();
    FrontendConfigurationKeysKt.setExtensionsStorage(configuration, new CompilerPluginRegistrar.ExtensionStorage());
    var environment =
        KotlinCoreEnvironment.createForProduction(disposable, configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
    var factory = PsiFileFactory.getInstance(environment.getProject());
    var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String path = in.readLine(); path != null; path = in.readLine()) {
      String text = Files.readString(Path.of(path)).replace("\r\n", "\n").replaceFirst("^\uFEFF", "");
      var file = factory.createFileFromText(Path.of(path).getFileName().toString(), KotlinLanguage.INSTANCE, text);
      var error = com.intellij.psi.util.PsiTreeUtil.findChildOfType(file, PsiErrorElement.class);
      if (error != null) {
        out.printf("{\"path\":%s,\"error\":%s}%n", json(path), json(error.getErrorDescription()));
        continue;
      }
      var each = new Kotlin(text);
      each.walk(file, "", true);
      out.printf("{\"path\":%s,\"rows\":[%s]}%n", json(path), String.join(",", each.rows));
    }
    out.flush();
    System.exit(0);
  }
}
