<?php
namespace Shop\Cart;

use Stringable as Str;
use Psr\{Log, Cache as Store};

/** A total. */
interface HasTotal { public const A = 1; public function total(): int; }

#[Entity]
final class Invoice extends Base implements HasTotal
{
    use Logs;
    private int $cents = 0;

    public function __construct(private int $x) {}

    /**
     * Sums up.
     */
    public function total(): int
    {
        return (function () { return 1; })();
    }
}

trait Logs { protected function log(): static { return $this; } }
enum Status: string { case Open = 'o'; }
const LIMIT = 3;
function helper(): void { function nested() {} }
