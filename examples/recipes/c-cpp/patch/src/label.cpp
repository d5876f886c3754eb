#include "label.hpp"

std::string label(int grams)
{
    std::string text = std::to_string(grams) + " g";
    if (grams > 20000) {
        text += " heavy";
    }
    return text;
}
