require "helper"

class FreightTest < Minitest::Test
  def test_a_letter_has_a_price
    assert_equal 800, Freight.price(500)
  end
end
