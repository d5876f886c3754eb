"use strict";

// What it costs to send a parcel, in cents.
function price(grams) {
  return 300 + grams;
}

module.exports = { price };
