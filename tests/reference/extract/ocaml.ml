(* Values, types, modules and classes by OCaml's own parser: paths on standard input, one JSON line a file on
   standard output. Of local values only functions count. *)
open Parsetree

let rows : string list ref = ref []
let parents : string list ref = ref []

let quoted text =
  let b = Buffer.create 16 in
  String.iter
    (fun c -> if c = '"' || c = '\\' then (Buffer.add_char b '\\'; Buffer.add_char b c)
      else if Char.code c < 32 then Buffer.add_char b ' ' else Buffer.add_char b c) text;
  "\"" ^ Buffer.contents b ^ "\""

let row name (loc : Location.t) =
  let symbol = String.concat "." (List.rev (name :: !parents)) in
  rows := Printf.sprintf "{\"symbol\":%s,\"start\":%d,\"end\":%d}" (quoted symbol)
    loc.loc_start.pos_lnum loc.loc_end.pos_lnum :: !rows

let inside name f = let before = !parents in parents := name :: before; f (); parents := before

let rec is_function e = match e.pexp_desc with
  | Pexp_fun _ | Pexp_function _ -> true
  | Pexp_newtype (_, e) | Pexp_constraint (e, _) | Pexp_coerce (e, _, _) -> is_function e
  | _ -> false

let rec names p = match p.ppat_desc with
  | Ppat_var name -> [name.txt]
  | Ppat_constraint (p, _) -> names p
  | Ppat_tuple ps -> List.concat_map names ps
  | _ -> []

(* The title of a test, `let%test "…" =`, qualifies what stands in it. *)
let title p = match p.ppat_desc with
  | Ppat_constant (Pconst_string (text, _, _)) when text <> "" -> [text]
  | _ -> []

let base = Ast_iterator.default_iterator
let iterator = { base with
  structure_item = (fun it item -> match item.pstr_desc with
    | Pstr_value (_, bindings) -> List.iter (fun b ->
        List.iter (fun name -> row name b.pvb_loc) (names b.pvb_pat);
        match names b.pvb_pat @ title b.pvb_pat with
        | [name] -> inside name (fun () -> it.expr it b.pvb_expr)
        | _ -> it.expr it b.pvb_expr) bindings
    | Pstr_exception e -> row e.ptyexn_constructor.pext_name.txt item.pstr_loc
    | _ -> base.structure_item it item);
  signature_item = (fun it item -> match item.psig_desc with
    | Psig_exception e -> row e.ptyexn_constructor.pext_name.txt item.psig_loc
    | _ -> base.signature_item it item);
  expr = (fun it e -> match e.pexp_desc with
    | Pexp_let (_, bindings, body) ->
        List.iter (fun b -> match names b.pvb_pat with
          | [name] when is_function b.pvb_expr -> row name b.pvb_loc; inside name (fun () -> it.expr it b.pvb_expr)
          | _ -> it.expr it b.pvb_expr) bindings;
        it.expr it body
    | Pexp_letmodule ({ txt = Some name; _ }, m, body) ->
        inside name (fun () -> it.module_expr it m); it.expr it body
    | _ -> base.expr it e);
  with_constraint = (fun _ _ -> ()); (* it says what a type is, and declares none *)
  value_description = (fun _ v -> row v.pval_name.txt v.pval_loc);
  type_declaration = (fun _ d ->
    row d.ptype_name.txt d.ptype_loc;
    inside d.ptype_name.txt (fun () -> match d.ptype_kind with
      | Ptype_variant cs -> List.iter (fun c -> row c.pcd_name.txt c.pcd_loc) cs
      | _ -> ()));
  module_binding = (fun it m -> match m.pmb_name.txt with
    | Some name -> row name m.pmb_loc; inside name (fun () -> it.module_expr it m.pmb_expr)
    | None -> base.module_binding it m);
  module_declaration = (fun it m -> match m.pmd_name.txt with
    | Some name -> row name m.pmd_loc; inside name (fun () -> it.module_type it m.pmd_type)
    | None -> base.module_declaration it m);
  module_substitution = (fun _ m -> row m.pms_name.txt m.pms_loc);
  module_type_declaration = (fun it m ->
    row m.pmtd_name.txt m.pmtd_loc;
    inside m.pmtd_name.txt (fun () -> Option.iter (it.module_type it) m.pmtd_type));
  class_declaration = (fun it c ->
    row c.pci_name.txt c.pci_loc; inside c.pci_name.txt (fun () -> it.class_expr it c.pci_expr));
  class_type_declaration = (fun it c ->
    row c.pci_name.txt c.pci_loc; inside c.pci_name.txt (fun () -> it.class_type it c.pci_expr));
  class_description = (fun it c ->
    row c.pci_name.txt c.pci_loc; inside c.pci_name.txt (fun () -> it.class_type it c.pci_expr));
  class_field = (fun it f -> match f.pcf_desc with
    | Pcf_method (name, _, _) -> row name.txt f.pcf_loc; inside name.txt (fun () -> base.class_field it f)
    | _ -> base.class_field it f);
  class_type_field = (fun it f -> match f.pctf_desc with
    | Pctf_method (name, _, _, _) -> row name.txt f.pctf_loc
    | _ -> base.class_type_field it f) }

let read path =
  rows := []; parents := [];
  let channel = open_in_bin path in
  let buffer = Lexing.from_channel channel in
  Location.init buffer path;
  (if Filename.check_suffix path ".mli" then iterator.signature iterator (Parse.interface buffer)
   else iterator.structure iterator (Parse.implementation buffer));
  close_in channel

let () = try while true do
    let path = input_line stdin in
    (match read path with
     | () -> Printf.printf "{\"path\":%s,\"rows\":[%s]}\n" (quoted path) (String.concat "," (List.rev !rows))
     | exception e -> Printf.printf "{\"path\":%s,\"error\":%s}\n" (quoted path) (quoted (Printexc.to_string e)))
  done with End_of_file -> ()
