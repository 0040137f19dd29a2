//! The search. Blocks.

use super::model::{Finder, KindMatches, SearchResult};
use crate::app::App;
use crate::platform::name_search::{NameMatches, SearchWords};

/// Searches things of these kinds, up to `limit` of each. A kind that cannot be searched is
/// reported and does not hide the others.
pub(super) fn search(
    app: &App,
    finders: &[Finder],
    words: &SearchWords,
    limit: usize,
) -> SearchResult {
    let mut result = SearchResult::default();
    for finder in finders {
        let kind = finder.kind;
        let mut matches = NameMatches::new(words, limit);
        if let Err(error) = (finder.offer)(app, &mut matches) {
            tracing::warn!(kind, %error, "things of a kind cannot be searched");
            result.failed.push(kind);
            continue;
        }
        let (things, total) = matches.finish();
        if total > 0 {
            result.kinds.push(KindMatches { kind, things, total });
        }
    }
    result
}
