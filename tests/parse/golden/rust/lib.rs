//! A crate.
use std::{fmt::{self, Write}, io as o};
use crate::prelude::*;

/// How many.
pub const LIMIT: usize = 3;
static NAME: &str = "x";

/// A square.
///
/// With a side.
#[derive(Debug)]
// kept
#[repr(C)]
pub struct Sq<'a, T: ?Sized>(pub f64, &'a T);

pub enum Op { Add { l: i32 }, Nop }
union Bits { i: u32, f: f32 }

#[async_trait]
pub trait Shape<const N: usize = 2> {
    type Unit: Copy;
    const SIDES: usize;
    /// The area.
    fn area(&self) -> f64;
    fn name(&self) -> String { String::from("shape") }
}

#[automatically_derived]
impl<'a, T> fmt::Display for crate::Sq<'a, T> where T: Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "x") }
}

pub mod net {
    use super::LIMIT;
    pub(crate) async fn r#match(x: i32) -> i32 { fn inner() {} x }
    #[cfg(test)]
    mod tests { #[test] fn works() {} }
}
mod elsewhere;

macro_rules! make {
    ($n:ident) => { fn $n() {} };
}
type Res<T> = Result<T, ()>;
extern "C" { fn c_side(x: i32); }
