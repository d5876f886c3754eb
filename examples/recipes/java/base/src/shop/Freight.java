package shop;

/** What it costs to send a parcel, in cents. */
public final class Freight {
    private Freight() {
    }

    public static int price(int grams) {
        return 300 + grams;
    }
}
