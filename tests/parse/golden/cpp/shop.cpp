#include <vector>
using std::vector;
using namespace std;

namespace shop::cart {
constexpr int LIMIT = 3;

/// A basket.
template <typename T>
class Basket : public Base<T> {
 public:
  Basket(int size) : size_(size) {}
  ~Basket();
  Basket& operator=(const Basket&) = default;
  operator bool() const { return true; }
  /// How many.
  virtual int size() const = 0;
  template <class U> void add(U u) {}
  struct Inner { int z; };
  enum class Kind { A, B };
  using Row = vector<T>;
  friend void helper(int);
 private:
  int size_, used_;
  static constexpr int MAX = 3;
};

class Forward;
}

namespace { int hidden() { return 1; } }

template <class T> int shop::cart::Basket<T>::size() const { return 1; }
Box::Box() {}
Box::~Box() {}
std::ostream& operator<<(std::ostream& o, const Box& b) { return o; }
template <> struct std::hash<Box> { size_t operator()(const Box&) const; };
extern "C" int exported(int x);
template <typename T> concept Small = sizeof(T) < 8;
auto square = [](int x) { return x * x; };

struct Level { void raise(); } current;

struct Pair {
    friend bool operator==(const Pair& a, const Pair& b) { return true; }
};
