#include "check.hpp"
#include "freight.h"
#include "label.hpp"

int main()
{
    CHECK(price(500) == 800);
    CHECK(label(500) == "500 g");
}
