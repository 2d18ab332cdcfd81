// Calls of Java as javac resolves them: ROOT SUBFOLDER OUT.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.Element;
import javax.tools.*;

public class JavaCalls {
  public static void main(String[] args) throws Exception {
    Path root = Paths.get(args[0]).toAbsolutePath().normalize();
    List<Path> files = new ArrayList<>();
    try (var walked = Files.walk(root.resolve(args[1]))) {
      walked.filter(one -> one.toString().endsWith(".java") && !one.endsWith("module-info.java")).forEach(files::add);
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
    JavacTask task = (JavacTask) compiler.getTask(
        null, manager, problem -> {}, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
    List<CompilationUnitTree> units = new ArrayList<>();
    task.parse().forEach(units::add);
    task.analyze();
    Trees trees = Trees.instance(task);
    StringJoiner found = new StringJoiner(",\n", "[", "]");
    for (CompilationUnitTree unit : units) {
      new TreePathScanner<Void, Void>() {
        void add(String name, long at, boolean isNew) {
          Element meant = trees.getElement(getCurrentPath());
          boolean known = meant != null && !meant.asType().getKind().name().equals("ERROR");
          TreePath declared = known ? trees.getPath(isNew ? meant.getEnclosingElement() : meant) : null;
          String place = "";
          if (declared != null) {
            CompilationUnitTree of = declared.getCompilationUnit();
            long start = trees.getSourcePositions().getStartPosition(of, declared.getLeaf());
            place = "[\"" + path(of) + "\"," + of.getLineMap().getLineNumber(start) + "]";
          }
          found.add("[\"" + path(unit) + "\"," + unit.getLineMap().getLineNumber(at) + ",\"" + name + "\",[" + place
              + "]," + known + "]");
        }

        String path(CompilationUnitTree of) {
          return root.relativize(Paths.get(of.getSourceFile().toUri())).toString();
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void unused) {
          ExpressionTree called = call.getMethodSelect();
          String name = called instanceof MemberSelectTree one ? one.getIdentifier().toString() : called.toString();
          add(name, trees.getSourcePositions().getEndPosition(unit, called) - name.length(), false);
          return super.visitMethodInvocation(call, unused);
        }

        @Override
        public Void visitNewClass(NewClassTree made, Void unused) {
          String name = made.getIdentifier().toString().replaceAll("<.*", "").replaceAll(".*\\.", "");
          add(name, trees.getSourcePositions().getEndPosition(unit, made.getIdentifier()) - 1, true);
          return super.visitNewClass(made, unused);
        }
      }.scan(unit, null);
    }
    Files.writeString(Paths.get(args[2]), found.toString());
  }
}
