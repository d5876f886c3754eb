//! What it costs to send a parcel, in cents.

pub fn price(grams: u32) -> u32 {
    let cents = 300 + grams;
    if grams > 20_000 {
        return cents + handling(grams);
    }
    cents
}

fn handling(grams: u32) -> u32 {
    let persons = (grams + 19_999) / 20_000;
    persons * 900
}
