#include <vector>
#include "shop.h"
using std::vector;
constexpr int LIMIT = 3;

namespace shop {
namespace cart {

/// Keeps rows.
template <typename T>
class [[nodiscard]] Basket final : public Base<T> {
 public:
  int size() const {
    vector<int> v;
    return LIMIT;
  }

 private:
  int used_;
};

}  // namespace cart
}  // namespace shop
