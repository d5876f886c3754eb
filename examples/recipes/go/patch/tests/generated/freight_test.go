package generated

import (
	"testing"

	"example.org/shop/freight"
)

func TestACrateIsCarriedByTwo(t *testing.T) {
	if got := freight.Price(30_000); got != 32_100 {
		t.Errorf("a crate costs %d", got)
	}
}
