//! The kinds of things that are searched, and what is found.

use crate::app::App;
use crate::platform::keys::Scope;
use crate::platform::name_search::{NameMatches, NamedThing};

/// Offers all things of a kind. Blocks.
pub(in crate::areas) type Offer =
    fn(&App, &mut NameMatches<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// How the things of a kind are found.
#[derive(Clone, Copy, Debug)]
pub(in crate::areas) struct Finder {
    /// The kind, as in responses.
    pub(in crate::areas) kind: &'static str,
    /// The scope that a caller needs to see them.
    pub(in crate::areas) scope: Scope,
    pub(in crate::areas) offer: Offer,
}

/// The matches of a kind.
#[derive(Debug)]
pub(super) struct KindMatches {
    pub(super) kind: &'static str,
    pub(super) things: Vec<NamedThing>,
    /// The number of all matches.
    pub(super) total: usize,
}

/// The matches of all kinds.
#[derive(Debug, Default)]
pub(super) struct SearchResult {
    /// In the order of the table of areas, without kinds that have no match.
    pub(super) kinds: Vec<KindMatches>,
    /// Kinds that could not be searched.
    pub(super) failed: Vec<&'static str>,
}
