require "set"

# Where things are.
module Depot
  LIMIT = 3

  # A crate.
  class Crate < Struct.new(:id)
    include Enumerable

    def each
      Set.new(LIMIT)
    end
  end
end
