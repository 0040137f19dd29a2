//! Times that the blocks of many metrics share.
//!
//! An agent reports all its metrics at once, so the rows of all of them have the same times, and those jitter: kept with
//! each metric they would take more disk than the values. Vectors of times that are no start and step therefore go into
//! *pages* ([`page`]), once for each window (and *page group* of it), and the blocks of points there refer to them. Whoever writes blocks
//! finds the page of a vector or begins one ([`writer`]); readers keep decoded pages in a cache ([`pages`]). Pages are
//! written in the same batch as the first block that refers to them, and go when no block refers to them ([`sweep`]).

mod page;
mod pages;
mod sweep;
pub(super) mod vectors;
mod writer;

pub(crate) use page::{PageNumber, PlaceInPage, TimePage, TimePageGroup};
pub(crate) use pages::TimePages;
pub(crate) use sweep::Sweep;
pub(crate) use vectors::{Times, TimesCache};
pub(crate) use writer::TimesWriter;
#[cfg(test)]
pub(crate) use writer::find_new;
