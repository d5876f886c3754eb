package shop;

/** What it costs to send a parcel, in cents. */
public final class Freight {
    private Freight() {
    }

    public static int price(int grams) {
        int cents = 300 + grams;
        if (grams > 20_000) {
            return cents + handling(grams);
        }
        return cents;
    }

    private static int handling(int grams) {
        int persons = (grams + 19_999) / 20_000;
        return persons * 900;
    }
}
