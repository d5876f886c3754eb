package shop

/** What it costs to send a parcel, in cents. */
fun price(grams: Int): Int {
    return 300 + grams
}
