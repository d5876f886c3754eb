package shop;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class WeightTest {
    @Test
    public void whatWeighsMoreNeverCostsLess() {
        assertTrue(Freight.price(30_000) > Freight.price(20_000));
    }
}
