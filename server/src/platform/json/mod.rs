//! JSON at speed, for the routes that move telemetry: bodies are read in place and borrowed, answers are
//! written straight into bytes. Configuration routes use `serde_json` and need nothing of this.

mod counted;
mod document_memory;
mod number;
mod plain;
mod read;
mod whole;
mod write;

pub use counted::CountedText;
pub use document_memory::{
    has_too_many_values, reserve_document, reserve_document_unconditionally,
};
pub use plain::{Cursor, Scalar};
pub use read::{Elements, InvalidJson, Json, Members, Number, Value, with_document};
pub use whole::{whole_or_null, whole_u32};
pub use write::{Plain, number, string, unsigned};
