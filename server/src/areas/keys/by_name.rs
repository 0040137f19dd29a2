//! Keys in the search by name, and the people that have them.

use crate::app::App;
use crate::platform::name_search::NameMatches;
use crate::platform::people::People;

/// Offers all keys. Blocks.
pub(in crate::areas) fn offer_keys(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for key in app.keys().list() {
        matches.offer(&key.name, || (key.id.clone(), Some(key.user.clone())));
    }
    Ok(())
}

/// Adds the people that have keys. Keys that anybody may know belong to programs.
pub(in crate::areas) fn add_owners(
    app: &App,
    people: &mut People,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for key in app.keys().list().into_iter().filter(|key| !key.public_ingest) {
        let person = people.entry(&key.user);
        person.keys += usize::from(key.revoked_at.is_none());
        person.last_seen = person.last_seen.max(key.last_used_at);
    }
    Ok(())
}
