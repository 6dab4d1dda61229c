import Foundation

/// A basket.
@objc public class Basket<T>: Base, Priced {
  var size: Int = 1
  let a = 2, b = 3
  #if DEBUG
  func debug() {}
  #endif
  init(size: Int) { self.size = size }
  deinit { }
  func add(_ x: Int) -> Int {
    func inner() -> Int { 1 }
    return inner()
  }
  var sum: Int {
    a + b
  }
  subscript(i: Int) -> Int { get { 1 } }
  static func == (l: Basket, r: Basket) -> Bool { true }
}

struct Point { let x: Int }
enum Kind { case small, large(Int) }
extension Basket.Inner: Priced { func extra() {} }
protocol Priced { func price() -> Int; var total: Int { get } }
actor Worker { }
typealias Row = Int
func top() {}
