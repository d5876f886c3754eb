use freight::price;

#[test]
fn nothing_costs_the_base_price() {
    assert_eq!(price(0), 300);
}
