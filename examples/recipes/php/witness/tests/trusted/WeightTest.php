<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;
use Shop\Freight;

final class WeightTest extends TestCase
{
    public function testWhatWeighsMoreNeverCostsLess(): void
    {
        self::assertGreaterThan(Freight::price(20_000), Freight::price(30_000));
    }
}
