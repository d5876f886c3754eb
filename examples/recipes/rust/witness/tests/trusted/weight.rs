use freight::price;

#[test]
fn what_weighs_more_never_costs_less() {
    assert!(price(30_000) > price(20_000));
}
