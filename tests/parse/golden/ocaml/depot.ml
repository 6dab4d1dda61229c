(** Module doc *)
open Base
module M = Map.Make (String)
type t = { name : string; mutable n : int }
and u = A | B of int
exception Bad of string
(** doc of f *)
let f x = x + 1
let rec even n = n = 0 || odd (n - 1)
and odd n = n <> 0 && even (n - 1)
let limit = 3
let ( >>= ) m f = bind m f
module Inner = struct
  let g ~label ?opt () = let h y = y in h 1
  module Deep = struct let z = fun x -> x end
end
module type S = sig
  type t
  val create : int -> t
  module X : sig val q : int end
end
module F (A : S) : S with type t = A.t = struct include A let create n = A.create n end
class counter init = object (self)
  inherit base
  val mutable n = init
  method incr = n <- n + 1
  method private get x = n
end
class type ct = object method m : int end
external foo : int -> int = "c_foo"
let () = print_endline "x"
let _ = ()
let%test "title" = true
let a, b = 1, 2
type ext += New

let%expect_test "moves" = print_endline "x"

(** First. *)
let rec first x = second x

(** Second. *)
and second x = first x

type shape = Round | Square of { side : int }
and other = { shape : shape; mutable count : int }
