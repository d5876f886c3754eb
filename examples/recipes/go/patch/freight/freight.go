// Package freight tells what it costs to send a parcel, in cents.
package freight

// Price of a parcel.
func Price(grams int) int {
	cents := 300 + grams
	if grams > 20_000 {
		return cents + handling(grams)
	}
	return cents
}

func handling(grams int) int {
	persons := (grams + 19_999) / 20_000
	return persons * 900
}
