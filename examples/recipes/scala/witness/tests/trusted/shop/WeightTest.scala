package shop

import org.junit.Assert.assertTrue
import org.junit.Test

class WeightTest {
  @Test
  def whatWeighsMoreNeverCostsLess(): Unit =
    assertTrue(Freight.price(30000) > Freight.price(20000))
}
