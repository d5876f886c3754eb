package shop

import org.junit.Assert.assertEquals
import org.junit.Test

class CrateTest {
    @Test
    fun `a crate is carried by two`() {
        assertEquals(32_100, price(30_000))
    }
}
