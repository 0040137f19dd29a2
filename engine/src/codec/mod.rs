//! Columns in, bytes out, and back: the lossless encodings that blocks and log records are made of.
//!
//! Nothing here knows what a column means. Every decoder takes bytes that a checksum has vouched for and is
//! still total: damaged input gives [`CodecError`], never a panic and never an allocation larger than the
//! rows it claims, which the caller bounds.

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
