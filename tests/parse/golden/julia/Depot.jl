module Depot
using Base: show
import JSON, HTTP.get
export Crate
"""
Doc of it.
"""
struct Crate{T} <: AbstractThing
    name::String
    n::T
    Crate(name) = new(name, 1)
    function Crate{T}(a, b) where T
        new{T}(a, b)
    end
end
mutable struct M; x::Int; end
abstract type A end
primitive type P 8 end
const LIMIT = 3
x = 1
"short"
area(c::Crate) = c.n * 2
function Base.show(io::IO, c::Crate) where T
    inner(x) = x
    nothing
end
function +(a::Crate, b) end
Base.:(==)(a::Crate, b::Crate) = true
macro mac(ex)
    esc(ex)
end
@inline function fast(x) x end
@enum Color red green
f = x -> x
module Sub
g() = 1
end
function nobody end
(c::Crate)(x) = x
function (c::Crate)(x, y) end
@testset "title" begin
    @test 1 == 1
    h() = 2
end
end
struct A{T} <: B
  x::T
  y
  const z::Int
  A(x) = new(x)
  "doc"
  w = 3
end
Base.@kwdef mutable struct C
  a::Int = 1
end

"""
    far(x; dir=:in)

How far it is.
"""
far(x; dir=:in) = x
@traitfn function near(g::::IsDirected, x) x end
same(g::AG) where {AG<:AbstractGraph;!IsDirected{AG}} = g
const ≅ = isequal
const Pair2{T} = Tuple{T,T}
