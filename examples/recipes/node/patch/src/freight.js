"use strict";

// What it costs to send a parcel, in cents.
function price(grams) {
  const cents = 300 + grams;
  if (grams > 20_000) {
    return cents + handling(grams);
  }
  return cents;
}

function handling(grams) {
  const persons = Math.ceil(grams / 20_000);
  return persons * 900;
}

module.exports = { price };
