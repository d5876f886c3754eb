<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;
use Shop\Freight;

final class FreightTest extends TestCase
{
    public function testALetterHasAPrice(): void
    {
        self::assertSame(800, Freight::price(500));
    }
}
