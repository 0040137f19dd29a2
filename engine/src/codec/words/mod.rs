//! Integers of which few values make up nearly all rows, as words of one to three values in a
//! Huffman code.
//!
//! Most series change by small steps, so that their differences are a handful of values. A code for
//! single values would waste a twentieth of the bytes on them, since each takes a whole number of
//! bits; a code for pairs is within a percent of the entropy. One look into a table decodes up to
//! six values. Values that are too rare for the code are listed as exceptions. Figures:
//! `docs/decisions/0020-a-code-of-words-for-small-steps.md`.
//!
//! ```text
//! head: bytes:
//!   values: varint │ lowest: signed │ of each other, in increasing order: step - 1: varint
//!   values of a word: u8
//!   exceptions: varint, then for each: row delta: varint │ value: signed
//!   bits of each word, zero if it does not occur: see `huffman.rs`
//! one length per page: varint │ pages: codes
//! ```
//!
//! Codes of consecutive values have no steps, and pages of
//! [similar length](super::paged::put_similar_pages). Those by costs have [costs] of the
//! values instead of the bits of words, which is smaller for many words.
//!
//! Values are numbered from the lowest. A word is a number whose digits, in base `values`, are the
//! numbers of its values, the first one lowest. Any value may stand in the place of an exception,
//! and in the rest of the last word of a page.

mod canonical;
mod code_form;
mod costs;
mod decode;
mod huffman;
mod limits;
mod pages;
mod plan;
mod stops;
mod table;

pub(super) use code_form::CodeForm;
pub(super) use pages::WordPages;
pub(super) use plan::Plan;

#[cfg(test)]
mod tests;
