#include "freight.h"

static int handling(int grams)
{
    int persons = (grams + 19999) / 20000;
    return persons * 900;
}

int price(int grams)
{
    int cents = 300 + grams;
    if (grams > 20000) {
        return cents + handling(grams);
    }
    return cents;
}
