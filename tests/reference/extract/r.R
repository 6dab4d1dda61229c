# Functions with a name by R's own parser: paths on standard input, one JSON line a file on standard output. They are
# assigned, an argument of `list` or of a class, a generic or a method of S4. Classes, lists outside all functions
# and the titles of tests qualify what they hold.
quoted <- function(text) paste0('"', gsub('(["\\\\])', '\\\\\\1', text), '"')
plain <- function(text) gsub("[[:space:]]+", " ", gsub('^[`"\']|[`"\']$', "", text))
CLASSES <- c("R6Class", "setRefClass", "setClass", "ggproto", "new_class", "proto")
TESTS <- c("test_that", "describe", "it")

rows <- function(data) {
  ids <- as.character(data$id)
  parents <- setNames(as.character(data$parent), ids)
  at <- setNames(seq_along(ids), ids)
  order <- order(data$line1, data$col1, -data$line2, -data$col2)
  order <- order[data$token[order] != "COMMENT"]
  children <- split(ids[order], data$parent[order])
  token <- function(id) data$token[at[id]]
  leaf <- function(id) {
    inner <- children[[id]]
    if (is.null(inner)) id else inner[length(inner)]
  }
  text <- function(id) plain(data$text[at[leaf(id)]])
  literal <- function(id) token(leaf(id)) == "STR_CONST"
  callee <- function(id) {
    inner <- children[[id]]
    if (length(inner) > 1 && token(leaf(inner[1])) == "SYMBOL_FUNCTION_CALL") text(inner[1]) else ""
  }
  is_function <- function(id) {
    inner <- children[[id]]
    length(inner) > 0 && token(inner[1]) %in% c("FUNCTION", "'\\\\'")
  }
  named <- list()
  add <- function(id, names, row = FALSE, outermost = FALSE, from = id, to = id)
    named[[id]] <<- list(names = names, row = row, outermost = outermost, first = data$line1[at[from]], last = data$line2[at[to]])
  for (key in names(children)) {
    inner <- children[[key]]
    if (key %in% ids && nzchar(called <- callee(key))) {
      arguments <- inner[vapply(inner, token, "") == "expr"][-1]
      first <- if (length(arguments) && literal(arguments[1])) text(arguments[1]) else ""
      if (called %in% TESTS && nzchar(first)) add(key, first)
      if (called == "setGeneric" && nzchar(first)) add(key, first, row = TRUE)
      if (called %in% c("setMethod", "setReplaceMethod") && nzchar(first) && length(arguments) > 1) {
        owner <- regmatches(data$text[at[arguments[2]]], regexpr("[\"'][^\"'\n]+[\"']", data$text[at[arguments[2]]]))
        add(key, c(plain(owner), first), row = TRUE)
      }
    }
    sub <- which(vapply(inner, token, "") == "SYMBOL_SUB")
    for (i in sub[sub + 2 <= length(inner)]) {
      value <- inner[i + 2]
      if (is_function(value)) add(value, plain(data$text[at[inner[i]]]), row = callee(key), from = inner[i])
    }
    where <- which(vapply(inner, token, "") %in% c("LEFT_ASSIGN", "EQ_ASSIGN"))
    for (i in where) {
      if (i == 1 || i == length(inner)) next
      target <- inner[i - 1]
      value <- inner[i + 1]
      kept <- children[[target]]
      if (!is.null(kept) && length(kept) == 1) target <- kept
      member <- length(kept) == 3 && token(kept[2]) %in% c("'$'", "'@'") && token(leaf(kept[1])) == "SYMBOL"
      if (!(token(target) %in% c("SYMBOL", "STR_CONST")) && !member) next
      name <- if (member) c(text(kept[1]), text(kept[3])) else plain(data$text[at[target]])
      whole <- length(inner) == 3 && key %in% ids
      if (is_function(value)) add(value, name, row = TRUE, from = if (whole) key else inner[i - 1], to = if (whole) key else value)
      else if (callee(value) %in% CLASSES && !member) add(value, name)
      else if (callee(value) == "list" && !member) add(value, name, outermost = TRUE)
    }
  }
  found <- character()
  for (id in names(named)) {
    one <- named[[id]]
    path <- character()
    class <- FALSE
    up <- parents[[id]]
    outer <- list()
    while (!is.na(up) && up %in% ids) {
      if (!is.null(named[[up]])) outer <- c(list(c(named[[up]], list(id = up))), outer)
      up <- parents[[up]]
    }
    held <- FALSE
    for (each in outer) {
      argument <- is.character(each$row)
      if (argument && !(each$row == "list" || held)) next
      if (each$outermost && length(path)) next
      path <- c(path, each$names)
      held <- callee(each$id) %in% CLASSES
    }
    if (is.character(one$row)) { if (!(one$row == "list" || held)) next }
    else if (!one$row) next
    found <- c(found, sprintf('{"symbol":%s,"start":%s,"end":%s}', quoted(paste(c(path, one$names), collapse = ".")), one$first, one$last))
  }
  found
}

for (path in readLines(file("stdin"))) {
  answer <- tryCatch({
    text <- readLines(path, warn = FALSE, encoding = "UTF-8")
    data <- getParseData(parse(text = text, keep.source = TRUE, encoding = "UTF-8"), includeText = TRUE)
    sprintf('{"path":%s,"rows":[%s]}', quoted(path), if (is.null(data)) "" else paste(rows(data), collapse = ","))
  }, error = function(e) sprintf('{"path":%s,"error":%s}', quoted(path), quoted(gsub("[^ -~]+", " ", conditionMessage(e)))))
  cat(answer, "\n", sep = "")
}
