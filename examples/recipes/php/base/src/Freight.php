<?php

declare(strict_types=1);

namespace Shop;

/** What it costs to send a parcel, in cents. */
final class Freight
{
    public static function price(int $grams): int
    {
        return 300 + $grams;
    }
}
