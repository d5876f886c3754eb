use freight::price;

#[test]
fn a_crate_is_carried_by_two() {
    assert_eq!(price(30_000), 32_100);
}
