// What it costs to send a parcel, in cents.
export function price(grams: number): number {
  const cents = 300 + grams;
  if (grams > 20_000) {
    return cents + handling(grams);
  }
  return cents;
}

function handling(grams: number): number {
  const persons = Math.ceil(grams / 20_000);
  return persons * 900;
}
