package shop

import org.junit.Assert.assertEquals
import org.junit.Test

class CrateTest {
  @Test
  def aCrateIsCarriedByTwo(): Unit =
    assertEquals(32100, Freight.price(30000))
}
