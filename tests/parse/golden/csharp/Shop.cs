using System.Text;
using Alias = System.Collections.Generic.List<int>;

namespace Shop.Cart;

/// <summary>
/// A basket.
/// </summary>
[Serializable]
public partial class Basket<T> : Base where T : new()
{
    const int LIMIT = 1;
    private int a, b = 2;
    public Basket(int x) : base(x) { }
    ~Basket() { }
    public int Size { get; set; } = 3;
    public int Sum
    {
        get { return a + b; }
    }
    public int this[int i] => i;
    public static Basket<T> operator +(Basket<T> l, Basket<T> r) => l;
    public static implicit operator int(Basket<T> x) => 1;
    public event EventHandler Changed;
    [Obsolete] int Map<U>(int x) => x;
    void IFace.Run() { int Local(int y) { return y; } }
    abstract void Later();
    enum Kind { A, B }
}

public delegate int Fold(int x);
record Point(int X);
interface IFace { void Run(); }
