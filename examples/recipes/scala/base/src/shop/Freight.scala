package shop

/** What it costs to send a parcel, in cents. */
object Freight {
  def price(grams: Int): Int =
    300 + grams
}
