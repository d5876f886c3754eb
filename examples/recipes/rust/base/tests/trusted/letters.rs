use freight::price;

#[test]
fn a_letter_has_a_price() {
    assert_eq!(price(500), 800);
}
