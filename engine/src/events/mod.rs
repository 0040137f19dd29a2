//! The life of an event: from the batch into the head, into blocks, and into answers.

mod source;

pub(crate) use source::{Codes, NO_CODE, Numbers, Rows, Source};
