//! The result type of the program: errors are messages. A failure of a peer is part of the report
//! and does not end the run.

use std::error::Error;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
