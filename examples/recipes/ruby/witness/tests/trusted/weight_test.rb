require "helper"

class WeightTest < Minitest::Test
  def test_what_weighs_more_never_costs_less
    assert_operator Freight.price(30_000), :>, Freight.price(20_000)
  end
end
