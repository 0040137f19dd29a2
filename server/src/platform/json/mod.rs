//! Fast JSON for the telemetry routes: bodies are parsed in place and borrowed, responses are
//! written directly as bytes. Configuration routes use `serde_json`, and from this module only the
//! messages for invalid bodies ([`read_typed`], [`invalid_syntax`]).

mod counted;
mod document_memory;
mod integer;
mod mismatch;
mod nullable;
mod number;
mod plain;
mod read;
mod syntax;
mod write;

pub use counted::{ChargedJson, JsonWriteError};
pub use document_memory::{
    has_too_many_values, reserve_document, reserve_document_unconditionally,
};
pub use integer::{integer_or_null, integer_u32};
pub use mismatch::{BrokenRule, TypeMismatch, read_typed};
pub use nullable::nullable;
pub use plain::{Cursor, Scalar, set_once};
pub use read::{Elements, InvalidJson, Json, Members, Number, Value, with_document};
pub use syntax::{invalid_syntax, without_position};
pub use write::{Plain, number, string, unsigned};
