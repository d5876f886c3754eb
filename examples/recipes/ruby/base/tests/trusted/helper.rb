require "simplecov"

SimpleCov.start do
  enable_coverage :branch
  track_files "lib/**/*.rb"
  add_filter "/tests/"
end

require "minitest/autorun"
require "freight"
