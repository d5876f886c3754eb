package shop

/** What it costs to send a parcel, in cents. */
fun price(grams: Int): Int {
    val cents = 300 + grams
    return when {
        grams > 20_000 ->
            cents + handling(grams)
        else -> cents
    }
}

private fun handling(grams: Int): Int {
    val persons = (grams + 19_999) / 20_000
    return persons * 900
}
