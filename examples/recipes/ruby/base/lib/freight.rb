# What it costs to send a parcel, in cents.
module Freight
  def self.price(grams)
    300 + grams
  end
end
