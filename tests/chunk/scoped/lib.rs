use std::collections::{HashMap, HashSet};
use std::fmt;
use crate::prelude::*;

pub const LIMIT: usize = 3;

pub mod shop {
    use std::io;

    /// Rows, the newest first.
    pub struct Store<T> {
        rows: Vec<T>, // never empty
    }

    /// Keeps rows.
    #[async_trait]
    impl<T: Clone> Keeps<T> for Store<T>
    where
        T: Send,
    {
        const SIZE: usize = LIMIT;

        fn put(&mut self, f: HashMap<u8, fmt::Error>) -> io::Result<()> {
            Ok(())
        }
    }
}
