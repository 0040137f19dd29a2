//! The lossless encodings of columns, of which blocks and log records consist.
//!
//! This module does not know what a column means. Decoders get bytes whose checksum was verified
//! and still accept any input: corrupt bytes give a [`CodecError`], never a panic, and never an
//! allocation larger than the number of rows claimed, which the caller bounds.

mod bits;
pub(crate) mod bytes;
pub(crate) mod decimals;
mod error;
mod fixed_point;
pub(crate) mod floats;
pub(crate) mod frame;
pub(crate) mod integers;
pub(crate) mod runs;
pub(crate) mod verified;

pub(crate) use error::{CodecError, CodecResult};
