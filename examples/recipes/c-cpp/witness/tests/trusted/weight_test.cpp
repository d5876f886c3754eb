#include "check.hpp"
#include "freight.h"
#include "label.hpp"

int main()
{
    CHECK(price(30000) > price(20000));
    CHECK(label(30000).find("30000 g") == 0);
}
