package shop

import org.junit.Assert.assertEquals
import org.junit.Test

class FreightTest {
  @Test
  def aLetterHasAPrice(): Unit =
    assertEquals(800, Freight.price(500))
}
