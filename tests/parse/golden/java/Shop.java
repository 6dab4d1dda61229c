package shop.cart;

import java.util.*;
import java.util.function.Function;
import static java.lang.Math.max;

/**
 * A shop.
 *
 * @author someone
 */
@Service("shop")
public final class Shop<T> extends Base implements Runnable {
    private static final int LIMIT = 3;
    @Inject private int a = 1, b;

    /** Makes one. */
    public Shop(int a) { this.a = a; }

    @Override
    public void run() {
        Runnable r = new Runnable() { public void run() { } };
    }

    abstract <U> U map(Function<T, U> f);

    enum Kind {
        HARD { void go() { } },
        SOFT;

        private final int weight = 1;
    }

    record Point(int x, int y) {
        Point { if (x < 0) throw new IllegalArgumentException(); }
    }

    @interface Marker { String value() default "x"; }
}

interface Priced {
    int MAX = 3;

    int price();

    default String label() { return "x"; }
}
