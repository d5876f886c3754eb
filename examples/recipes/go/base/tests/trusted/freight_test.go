package trusted

import (
	"testing"

	"example.org/shop/freight"
)

func TestALetterHasAPrice(t *testing.T) {
	if got := freight.Price(500); got != 800 {
		t.Errorf("a letter costs %d", got)
	}
}
