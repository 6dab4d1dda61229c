package shop.cart;

import java.util.List;
import java.util.Map;
import static java.lang.Math.*;

/**
 * Keeps rows. Invariant: sorted.
 */
@Service("shop")
@Transactional
public class Shop<T> extends Base implements Keeps {
    private static final int LIMIT = 3;

    /** Inner. */
    static class Row {
        List<String> all() {
            return null;
        }
    }
}
