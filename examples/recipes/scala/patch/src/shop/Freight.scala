package shop

/** What it costs to send a parcel, in cents. */
object Freight {
  def price(grams: Int): Int = {
    val cents = 300 + grams
    grams match {
      case heavy if heavy > 20000 =>
        cents + handling(heavy)
      case _ =>
        cents
    }
  }

  private def handling(grams: Int): Int = {
    val persons = (grams + 19999) / 20000
    persons * 900
  }
}
