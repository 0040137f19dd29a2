//! The life of an event: from the batch into the head, into blocks, and into answers.

#[allow(dead_code, reason = "the engine does not take events yet")]
mod chunk;
#[allow(dead_code, reason = "the engine does not take events yet")]
mod path;
#[allow(dead_code, reason = "the engine does not take events yet")]
mod query;
#[allow(dead_code, reason = "the engine does not take events yet")]
#[allow(dead_code, unused_imports, reason = "the engine is yet to be wired to it")]
mod block;
mod source;

#[allow(unused_imports, reason = "the engine does not take events yet")]
pub(crate) use chunk::Chunk;
#[allow(unused_imports, reason = "the engine does not take events yet")]
pub(crate) use query::{QueryContext, QueryLimits, aggregate, list};
pub(crate) use source::{Codes, NO_CODE, Numbers, Rows, Source};
