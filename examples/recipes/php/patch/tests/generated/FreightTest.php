<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;
use Shop\Freight;

final class CrateTest extends TestCase
{
    public function testACrateIsCarriedByTwo(): void
    {
        self::assertSame(32_100, Freight::price(30_000));
    }
}
