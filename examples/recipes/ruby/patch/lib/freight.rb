# What it costs to send a parcel, in cents.
module Freight
  def self.price(grams)
    cents = 300 + grams
    if grams > 20_000
      return cents + handling(grams)
    end
    cents
  end

  def self.handling(grams)
    persons = (grams / 20_000.0).ceil
    persons * 900
  end
end
