package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CrateTest {
    @Test
    public void aCrateIsCarriedByTwo() {
        assertEquals(32_100, Freight.price(30_000));
    }
}
