#pragma once
#include <string>

// What is printed on a parcel.
std::string label(int grams);
