# frozen_string_literal: true

require "set"
require_relative "base"

# Where things are.
module Depot
  VERSION = "1.0"

  # A crate.
  class Crate < Struct.new(:id)
    include Comparable

    def initialize(id) = super(id)
    def <=>(other) = id <=> other.id

    def note=(v)
      @note = v
    end

    class << self
      def build; end
      private def secret; end
    end

    def self.from(h) = new(h)
  end
end

class Depot::Crate
  def reopened; end
end

def top_level; :"odd end"; end
__END__
def after_end; end
