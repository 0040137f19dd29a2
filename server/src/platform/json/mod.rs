//! JSON at speed, for the routes that move telemetry: bodies are read in place and borrowed, answers are
//! written straight into bytes. Configuration routes use `serde_json` and need nothing of this.

mod number;
mod plain;
mod read;
mod room;
mod write;

pub use plain::{Cursor, Scalar};
pub use read::{Elements, InvalidJson, Json, Members, Number, Value, with_document};
pub use room::{has_too_many_values, room_anyway, room_for};
pub use write::{Plain, number, string, unsigned};
