//! Time pages: vectors of times that the blocks of many metrics share.
//!
//! An agent reports all its metrics at once, so their rows have the same times, with the same
//! jitter; stored with each metric, the times would take more disk space than the values. Irregular
//! time vectors are therefore stored in *pages* ([`page`]), per window and *page group*, and the
//! blocks of samples in that window refer to them. The writer of a block looks up the page of a
//! vector or adds the vector to a new one ([`writer`]); readers cache decoded pages ([`pages`]). A
//! page is written in the same batch as the first block that refers to it, and deleted when no
//! block refers to it any more ([`sweep`]).

// A number that loses bits on its way to or from disk is silent corruption. Tests may cast.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod page;
mod pages;
mod sweep;
pub(super) mod vectors;
mod writer;

pub(crate) use page::{PageNumber, TimePage, TimePageGroup, TimeVectorRef};
pub(crate) use pages::TimePages;
pub(crate) use sweep::Sweep;
pub(crate) use vectors::Times;
#[cfg(test)]
pub(crate) use writer::find_new;
pub(crate) use writer::{NewlyDecoded, TimePageWriter};
