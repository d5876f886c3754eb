// Package freight tells what it costs to send a parcel, in cents.
package freight

// Price of a parcel.
func Price(grams int) int {
	return 300 + grams
}
