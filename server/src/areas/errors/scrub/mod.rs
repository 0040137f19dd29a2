//! What must not be stored: the values of keys that hold secrets, credentials that are known by their form, and the numbers of
//! payment cards.
//!
//! `scrubber` is the face; `pairs` finds values of secret keys in texts, `credentials` what tells itself, `cards` the numbers of
//! cards.

mod cards;
mod credentials;
mod pairs;
mod scrubber;

pub(super) use scrubber::{FILTERED, Scrubber};

#[cfg(test)]
mod tests;
