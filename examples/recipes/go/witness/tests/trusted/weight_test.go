package trusted

import (
	"testing"

	"example.org/shop/freight"
)

func TestWhatWeighsMoreNeverCostsLess(t *testing.T) {
	if freight.Price(30_000) <= freight.Price(20_000) {
		t.Error("a crate is cheaper than a box")
	}
}
