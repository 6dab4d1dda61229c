package shop.cart

import scala.util.{Try, Success => Ok}
import scala.collection.mutable._

/** A basket. */
@deprecated case class Basket[T](size: Int) extends Base {
  val limit = 3
  type Row = T
  def this() = this(1)
  def add(a: Int): Int = {
    def inner = a
    inner
  }
  def later: Int
}

object Basket { def of = new Basket(1) }
trait Priced { def price: Int }
enum Kind { case A, B }
val top = 1
def free(x: Int) = x
