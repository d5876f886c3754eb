#include "../trusted/check.hpp"
#include "freight.h"
#include "label.hpp"

int main()
{
    CHECK(price(30000) == 32100);
    CHECK(label(30000) == "30000 g heavy");
}
