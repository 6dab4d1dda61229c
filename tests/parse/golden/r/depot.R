#!/usr/bin/env Rscript
# A header comment.
library(dplyr)
require("stats")
source("util.R")
box::use(x)

LIMIT <- 3
table = c(a = 1)

#' Moves it.
#'
#' More words.
#' @param x A crate.
#' @export
move <- function(x, n = 3) {
  inner <- function(y) y + 1
  inner(x)
}

sort_it = function(x) x
"quoted name" <- function(x) 1
`%+%` <- function(a, b) paste0(a, b)
print.crate <- function(x, ...) cat("x")
assign("dyn", function(x) 1)
function(x) x -> rev_assigned
(\(x) x + 1)(2)
short <- \(x) x + 1
`name<-` <- function(x, value) x
obj$method <- function(a) a
obj[["k"]] <- function(a) a
glob <<- function() 1

setClass("Crate", representation(shelf = "numeric"))
Shelf <- setClass("Shelf", slots = c(n = "numeric"))
setGeneric("size", function(obj, ...) standardGeneric("size"))
setMethod("size", "Crate", function(obj, ...) { obj@shelf })
setValidity("Crate", function(object) TRUE)
setMethod("show", signature(object = "Crate"), function(object) 1)

Account <- setRefClass("Account",
  fields = list(balance = "numeric"),
  methods = list(
    deposit = function(x) { balance <<- balance + x },
    show = function() cat("x")
  ))

#' A person.
Person <- R6::R6Class("Person",
  inherit = Base,
  public = list(
    name = NULL,
    #' @description Greets.
    initialize = function(name) { self$name <- name },
    greet = function() { cat(self$name) }
  ),
  private = list(secret = function() 1),
  active = list(age = function(v) 2)
)
if (TRUE) {
  cond <- function() 1
}
local({ loc <- function() 1 })
test_that("it works", {
  expect_equal(1, 1)
})
describe("x", { it("y", { 1 }) })
new_class("S7Thing", properties = list())
ui <- fluidPage(a, b)
server <- function(input, output) {
  output$plot <- renderPlot({ 1 })
}
setMethod("+", signature("Crate", "Crate"), function(e1, e2) e1)
`$.crate` <- function(x, name) NULL
handlers <- list(onMove = function(x) {
  x
}, onSort = function(x) x)
GeomCrate <- ggproto("GeomCrate", Geom, draw = function(self) 1)
tryCatch(move(1), error = function(e) NULL)
