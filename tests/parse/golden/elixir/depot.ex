defmodule MyApp.Depot do
  @moduledoc """
  Where crates are.

  More.
  """
  use GenServer
  alias MyApp.{Crate, Shelf}
  alias MyApp.Repo, as: R
  import Ecto.Query, only: [from: 2]
  require Logger

  @timeout 5_000
  @type t :: %__MODULE__{name: String.t()}
  @callback move(t, integer) :: :ok
  defstruct [:name, age: 0]

  @doc "Moves it."
  @spec move(t, integer) :: :ok
  def move(%{name: n}, 0), do: :ok
  def move(crate, n) when n > 0 do
    helper(crate)
  end

  @doc ~S"""
  Sorts.
  """
  @impl true
  def handle_call(:x, _from, s) do
    {:reply, s, s}
  end

  defp helper(x), do: x
  defmacro is_odd(n) do
    quote do: rem(unquote(n), 2)
  end
  defguard is_even(n) when rem(n, 2) == 0
  defdelegate size(x), to: Map
  def a + b, do: 1
  def no_parens, do: 3
  def bare
  def with_default(a, b \\ 3)

  defmodule Inner do
    def deep(x), do: x
  end
  defexception [:message]
end

defprotocol Size do
  @doc "How big."
  def size(data)
end

defimpl Size, for: BitString do
  def size(s), do: byte_size(s)
end
defmodule DepotTest do
  use ExUnit.Case
  describe "move/2" do
    setup do
      :ok
    end
    test "moves", %{a: a} do
      assert a
    end
  end
  test "not yet"
  property "x" do
    1
  end
end
