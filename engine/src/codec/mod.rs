//! The lossless encodings of columns, of which blocks and log records consist.
//!
//! This module does not know what a column means. Decoders get bytes whose checksum was verified
//! and still accept any input: corrupt bytes give a [`CodecError`], never a panic, and never an
//! allocation larger than the number of rows claimed, which the caller bounds.

// A cast that loses bits unseen would encode another number: conversions say what they keep.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)
)]

mod bits;
pub(crate) mod bytes;
pub(crate) mod decimals;
mod error;
mod fixed_point;
mod float_page;
pub(crate) mod floats;
pub(crate) mod frame;
pub(crate) mod integers;
mod lazy_column;
pub(crate) mod paged;
mod pco_pages;
pub(crate) mod run_integers;
pub(crate) mod runs;
pub(crate) mod verified;
mod words;

pub(crate) use error::{CodecError, CodecResult};
