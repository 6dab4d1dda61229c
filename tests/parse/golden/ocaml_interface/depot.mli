(** doc *)
val f : int -> int
type t
module M : sig val x : int end
exception E
external e : int -> int = "c"
class c : int -> object method m : int end
