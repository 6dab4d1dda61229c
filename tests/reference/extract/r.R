# Functions that a name is given to, by R's own parser: paths on standard input, one JSON line a file on standard
# output. Names of methods and classes in calls (`setMethod`, `R6Class`) are not its business.
quoted <- function(text) paste0('"', gsub('(["\\\\])', '\\\\\\1', text), '"')
plain <- function(text) gsub('^[`"\']|[`"\']$', "", text)

rows <- function(data) {
  found <- character()
  ids <- data$id
  parent <- data$parent[match(data$parent, ids)]
  parents <- setNames(data$parent, ids)
  named <- list()
  children <- split(seq_along(ids), data$parent)
  for (key in names(children)) {
    at <- children[[key]]
    at <- at[order(data$line1[at], data$col1[at])]
    at <- at[data$token[at] != "COMMENT"]
    operator <- data$token[at]
    where <- which(operator %in% c("LEFT_ASSIGN", "EQ_ASSIGN"))
    if (length(where) != 1 || where != 2 || length(at) != 3) next
    value <- at[3]
    inner <- children[[as.character(ids[value])]]
    inner <- inner[order(data$line1[inner], data$col1[inner])]
    if (!length(inner) || !(data$token[inner[1]] %in% c("FUNCTION", "'\\\\'"))) next
    target <- at[1]
    leaf <- children[[as.character(ids[target])]]
    if (data$token[target] %in% c("SYMBOL", "STR_CONST")) name <- data$text[target]
    else if (length(leaf) == 1 && data$token[leaf] %in% c("SYMBOL", "STR_CONST")) name <- data$text[leaf]
    else next
    whole <- match(as.integer(key), ids)
    if (as.integer(key) == 0 || is.na(whole)) { first <- data$line1[target]; last <- data$line2[value] }
    else { first <- data$line1[whole]; last <- data$line2[whole] }
    named[[as.character(ids[value])]] <- c(plain(name), first, last)
  }
  for (id in names(named)) {
    path <- named[[id]][1]
    up <- parents[id]
    while (!is.na(up) && up > 0) {
      outer <- named[[as.character(up)]]
      if (!is.null(outer)) path <- c(outer[1], path)
      up <- parents[as.character(up)]
    }
    found <- c(found, sprintf('{"symbol":%s,"start":%s,"end":%s}', quoted(paste(path, collapse = ".")), named[[id]][2], named[[id]][3]))
  }
  found
}

for (path in readLines(file("stdin"))) {
  answer <- tryCatch({
    text <- readLines(path, warn = FALSE, encoding = "UTF-8")
    data <- getParseData(parse(text = text, keep.source = TRUE, encoding = "UTF-8"), includeText = NA)
    sprintf('{"path":%s,"rows":[%s]}', quoted(path), if (is.null(data)) "" else paste(rows(data), collapse = ","))
  }, error = function(e) sprintf('{"path":%s,"error":%s}', quoted(path), quoted(gsub("[^ -~]+", " ", conditionMessage(e)))))
  cat(answer, "\n", sep = "")
}
