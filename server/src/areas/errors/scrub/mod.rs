//! Removes what must not be stored: the values of secret keys, credentials that are recognised by
//! their form, and the numbers of payment cards.
//!
//! `scrubber` is the interface. `pairs` finds the values of secret keys in strings, `credentials`
//! finds tokens and passwords by their form, `cards` finds card numbers.

mod cards;
mod credentials;
mod pairs;
mod scrubber;

pub(super) use scrubber::{FILTERED, Scrubber};

#[cfg(test)]
mod tests;
