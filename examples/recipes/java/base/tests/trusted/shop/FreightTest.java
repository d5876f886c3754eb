package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class FreightTest {
    @Test
    public void aLetterHasAPrice() {
        assertEquals(800, Freight.price(500));
    }
}
