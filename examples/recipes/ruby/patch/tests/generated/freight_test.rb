require "minitest/autorun"
require "freight"

class CrateTest < Minitest::Test
  def test_a_crate_is_carried_by_two
    assert_equal 32_100, Freight.price(30_000)
  end
end
