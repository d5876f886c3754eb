#include "label.hpp"

std::string label(int grams)
{
    return std::to_string(grams) + " g";
}
