library foo.bar;
import 'dart:async' show Future;
import 'package:x/y.dart' as y hide Z;
import 'lib.dart' deferred as d;
export 'src/a.dart';
part 'a.g.dart';


/// A class.
@immutable
class Foo<T extends Bar> extends Base<T> with M1, M2 implements I {
  static const int kMax = 3;
  final String name, other;
  late int? _x = 1;
  /// ctor
  Foo(this.name, {required int b}) : super(b) { init(); }
  const Foo.named(this.name) : other = '';
  Foo._();
  factory Foo.fromJson(Map<String, dynamic> json) => Foo(json['a']);
  factory Foo.redir() = Bar.x;
  external factory Foo.ext();
  int get value => _x!;
  set value(int v) { _x = v; }
  @override
  Future<void> run(int a) async { void inner() {} var f = () { }; }
  static Foo create() => Foo('');
  bool operator ==(Object o) => true;
  int operator [](int i) => i;
  abstract int z;
  external void e();
  void abs();
}
abstract class A { void m(); int get g; set s(int x); }
sealed class S {}
base mixin class BM {}
mixin M on A { void mm() {} }
extension Ext<T> on List<T> { T get firstX => first; }
extension on String { void anon() {} }
extension type Id(int value) implements int { int get v => value; }
enum Color { red, green(1); const Color([this.x]); final int? x; void paint() {} }
enum E2 { a, b }
typedef Cb = void Function(int);
typedef int Old(int a);
void main(List<String> args) async { print('x'); }
int get topGetter => 1;
set topSetter(int x) {}
const kTop = 1;
final String a = 'b', c = 'd';
var v = 3;
int typed = 2;
late final int lt;
external int nat();
Stream<int> gen() async* { yield 1; }
class Alias = Base with M;
