//! The search. Blocks.

use telltale_engine::{Cancellation, Error};

use super::model::{Finder, KindMatches, SearchResult};
use crate::app::App;
use crate::platform::name_search::{NameMatches, SearchWords};

/// Searches things of these kinds, up to `limit` of each. A kind that cannot be searched is
/// reported and does not hide the others. Fails if the client no longer waits, or has waited for
/// longer than a query may take.
pub(super) fn search(
    app: &App,
    finders: &[Finder],
    words: &SearchWords,
    limit: usize,
) -> Result<SearchResult, Error> {
    let mut result = SearchResult::default();
    for finder in finders {
        Cancellation::check_current()?;
        let kind = finder.kind;
        let mut matches = NameMatches::new(words, limit);
        let offered = (finder.offer)(app, &mut matches);
        // What it found is incomplete, or it failed for this reason.
        Cancellation::check_current()?;
        if let Err(error) = offered {
            tracing::warn!(kind, %error, "things of a kind cannot be searched");
            result.failed.push(kind);
            continue;
        }
        let (things, total) = matches.finish();
        if total > 0 {
            result.kinds.push(KindMatches { kind, things, total });
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::areas::finders;
    use crate::areas::testing::TestServer;

    #[test]
    fn a_search_ends_when_its_client_has_gone_or_its_time_is_over() {
        let house = TestServer::open();
        let sample = serde_json::json!({"name": "cpu", "type": "gauge", "value": 1});
        house.post("/api/v1/metrics", &sample).data(201);
        let words = SearchWords::parse("cpu").unwrap();
        let (clock, patience) = (house.app().clock(), Duration::from_secs(5));
        let find = || search(house.app(), &finders(), &words, 5);
        assert_eq!(find().unwrap().kinds.len(), 1);
        let client = Cancellation::new(clock.clone(), patience);
        client.cancel();
        assert!(matches!(client.scope(find), Err(Error::Overloaded(_))));
        let client = Cancellation::new(clock.clone(), patience);
        // The time is over while the first kind is searched.
        let slow = Finder {
            offer: |app, matches| {
                app.clock().pass(Duration::from_secs(5));
                matches.offer("cpu", || unreachable!("nobody waits for it"));
                Ok(())
            },
            ..*finders().first().unwrap()
        };
        let find = || search(house.app(), &[slow], &words, 5);
        assert!(matches!(client.scope(find), Err(Error::Overloaded(_))));
    }
}
