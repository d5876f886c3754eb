use freight::price;

#[test]
fn nothing_costs_the_base_price() {
    assert_eq!(price(0), 300);
}

#[test]
fn a_crate_is_carried_by_two() {
    assert_eq!(price(30_000), 32_100);
}
