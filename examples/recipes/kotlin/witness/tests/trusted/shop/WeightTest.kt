package shop

import org.junit.Assert.assertTrue
import org.junit.Test

class WeightTest {
    @Test
    fun `what weighs more never costs less`() {
        assertTrue(price(30_000) > price(20_000))
    }
}
