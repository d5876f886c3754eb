package shop

import org.junit.Assert.assertEquals
import org.junit.Test

class FreightTest {
    @Test
    fun `a letter has a price`() {
        assertEquals(800, price(500))
    }
}
