// What it costs to send a parcel, in cents.
export function price(grams: number): number {
  return 300 + grams;
}
