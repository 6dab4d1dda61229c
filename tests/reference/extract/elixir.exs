# Modules, functions, macros, types and titled tests by Elixir's own parser: paths on standard input, one JSON line
# a file on standard output. It says on which line a name stands and, for a `do`, where its `end` is.
defmodule Extract do
  @modules [:defmodule, :defprotocol, :defimpl]
  @functions [:def, :defp, :defmacro, :defmacrop, :defdelegate, :defguard, :defguardp, :defn, :defnp]
  @tests [:describe, :test, :property, :feature]
  # A title as it is written, interpolations and escapes included: the tree has no place of a string.
  @title ~r/^[^"]*"((?:[^"\\#]|\\.|#\{[^}]*\}|#)*)"/
  @types [:type, :typep, :opaque, :callback, :macrocallback]

  def read(path) do
    options = [token_metadata: true, columns: true, emit_warnings: false]

    source = File.read!(path)
    Process.put(:lines, source |> String.split("\n") |> List.to_tuple())

    case Code.string_to_quoted(source, options) do
      {:ok, tree} -> {:ok, tree |> walk([]) |> List.flatten()}
      {:error, {where, message, token}} -> {:error, inspect({where, message, token})}
    end
  rescue
    error -> {:error, Exception.message(error)}
  end

  defp walk({kind, meta, args}, parents) when kind in @modules and is_list(args) and args != [] do
    case module(kind, args) do
      nil -> walk(args, parents)
      names -> [row(parents ++ names, meta, meta) | walk(args, parents ++ names)]
    end
  end

  defp walk({kind, meta, [head | rest]}, parents) when kind in @functions do
    case name(head) do
      nil ->
        walk([head | rest], parents)

      {name, at} ->
        inside = parents ++ [name]
        [row(inside, at, meta) | walk(rest, inside)]
    end
  end

  defp walk({kind, meta, args}, parents) when kind in @tests and is_list(args) and length(args) > 1 do
    with [{:do, _} | _] <- List.last(args),
         [_, title] when title != "" <- Regex.run(@title, elem(Process.get(:lines), meta[:line] - 1)) do
      inside = parents ++ [title |> String.split() |> Enum.join(" ")]
      [row(inside, meta, meta) | walk(args, inside)]
    else
      _ -> walk(args, parents)
    end
  end

  defp walk({:@, _, [{kind, _, [{:"::", _, [head | _]}]}]}, parents) when kind in @types, do: spec(head, parents)
  defp walk({:@, _, [{kind, _, [{:when, _, [{:"::", _, [head | _]} | _]}]}]}, parents) when kind in @types, do: spec(head, parents)
  defp walk({a, _, args}, parents), do: [walk(a, parents), walk(args, parents)]
  defp walk({a, b}, parents), do: [walk(a, parents), walk(b, parents)]
  defp walk(list, parents) when is_list(list), do: Enum.map(list, &walk(&1, parents))
  defp walk(_, _), do: []

  defp spec(head, parents) do
    case name(head) do
      nil -> []
      {name, at} -> [%{symbol: Enum.join(parents ++ [name], "."), name: at[:line], end: nil}]
    end
  end

  defp module(:defimpl, [{:__aliases__, _, names} | rest]) do
    case rest |> Enum.filter(&is_list/1) |> Enum.concat() |> Keyword.get(:for) do
      {:__aliases__, _, types} -> strings(names) ++ strings(types)
      _ -> strings(names)
    end
  end

  defp module(_, [{:__aliases__, _, names} | _]), do: strings(names)
  defp module(_, [atom | _]) when is_atom(atom), do: [Atom.to_string(atom)]
  defp module(_, _), do: nil
  defp strings(names), do: if(Enum.all?(names, &is_atom/1), do: Enum.map(names, &Atom.to_string/1))

  defp name({:when, _, [head | _]}), do: name(head)
  defp name({:unquote, _, _}), do: nil
  defp name({{:unquote, _, _}, _, _}), do: nil
  defp name({name, meta, _}) when is_atom(name), do: {Atom.to_string(name), meta}
  defp name(_), do: nil

  defp row(names, at, meta) do
    last = get_in(meta, [:end, :line]) || get_in(meta, [:end_of_expression, :line])
    %{symbol: Enum.join(names, "."), name: at[:line], end: last}
  end

  def json(nil), do: "null"
  def json(number) when is_integer(number), do: Integer.to_string(number)

  def json(text) when is_binary(text) do
    escaped =
      for <<c::utf8 <- text>>, into: "" do
        if c < 32 or c in [?", ?\\], do: "\\u" <> String.pad_leading(Integer.to_string(c, 16), 4, "0"), else: <<c::utf8>>
      end

    "\"" <> escaped <> "\""
  end

  def json(list) when is_list(list), do: "[" <> Enum.map_join(list, ",", &json/1) <> "]"
  def json(map), do: "{" <> Enum.map_join(map, ",", fn {k, v} -> json(Atom.to_string(k)) <> ":" <> json(v) end) <> "}"
end

for path <- IO.stream(:stdio, :line), path = String.trim_trailing(path, "\n") do
  answer =
    case Extract.read(path) do
      {:ok, rows} -> %{path: path, rows: rows}
      {:error, message} -> %{path: path, error: message}
    end

  IO.puts(Extract.json(answer))
end
