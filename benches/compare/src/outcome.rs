//! How this program fails: with a sentence. A peer that fails is reported in the table and the run
//! goes on.

use std::error::Error;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
