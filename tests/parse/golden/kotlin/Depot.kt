package depot

import kotlin.math.max as biggest
import kotlin.io.*

/** A rule. */
fun interface Rule<in T> {
    fun test(value: T): Boolean
}

@JvmInline
value class Kg(val raw: Int) { operator fun plus(o: Kg) = Kg(raw + o.raw) }

enum class Side { LEFT { override fun flip() = RIGHT }, RIGHT; abstract fun flip(): Side }

abstract class Repo<T : Any>(private val rows: List<T>) {
    constructor(one: T) : this(listOf(one)) { println(one) }
    val size: Int
        get() = rows.size
    companion object { const val MAX = 3 }
    fun add(a: Int) = Unit
    fun map(): Int {
        fun local() = rows[0]
        return local()
    }
}

object Single { fun of() = 1 }
infix fun Int.`to the`(n: Int): Int = n
typealias Handler = (Rule<Int>) -> Unit
val (left, right) = pair()
