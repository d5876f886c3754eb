<?php

declare(strict_types=1);

namespace Shop;

/** What it costs to send a parcel, in cents. */
final class Freight
{
    public static function price(int $grams): int
    {
        $cents = 300 + $grams;
        if ($grams > 20_000) {
            return $cents + self::handling($grams);
        }
        return $cents;
    }

    private static function handling(int $grams): int
    {
        $persons = intdiv($grams + 19_999, 20_000);
        return $persons * 900;
    }
}
