//! The stored preferences: a document for each user, with the user as its id.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use telltale_engine::{Collection, Engine, Error, Expect, Refusal, Result, TimestampMs, Versioned};

use super::model::Preferences;

const PREFERENCES: Collection = Collection("preferences");

#[derive(Debug, Serialize, Deserialize)]
struct StoredPreferences {
    updated_at_ms: i64,
    preferences: Box<RawValue>,
}

/// Returns the preferences of a user; an empty object if there are none.
pub(super) fn get(engine: &Engine, user: &str) -> Result<Preferences> {
    let found = engine.documents().get::<StoredPreferences>(PREFERENCES, user)?;
    let user = user.to_owned();
    Ok(match found {
        None => Preferences { user, json: "{}".to_owned(), updated_at: None, revision: 0 },
        Some(Versioned { value, revision }) => Preferences {
            user,
            json: value.preferences.get().to_owned(),
            updated_at: Some(TimestampMs(value.updated_at_ms)),
            revision,
        },
    })
}

/// Returns the number of users with preferences.
pub(super) fn count(engine: &Engine) -> Result<usize> {
    let mut count = 0;
    engine.documents().visit(PREFERENCES, "", |_, _: Versioned<IgnoredAny>| count += 1)?;
    Ok(count)
}

/// Replaces a revision of the preferences of a user, none if it is 0. Returns the new revision, or
/// `None` if a concurrent write committed first.
pub(super) fn replace(
    engine: &Engine,
    user: &str,
    json: &str,
    now: TimestampMs,
    before: u64,
) -> Result<Option<u64>> {
    let preferences = RawValue::from_string(json.to_owned())
        .map_err(|error| Error::Corrupt(format!("preferences are not JSON: {error}")))?;
    let stored = StoredPreferences { updated_at_ms: now.0, preferences };
    let expected = if before == 0 { Expect::Absent } else { Expect::Revision(before) };
    let mut transaction = engine.documents().begin();
    transaction.put(PREFERENCES, user, &stored, expected)?;
    match transaction.commit() {
        Ok(revision) => Ok(Some(revision)),
        Err(Error::Refused(Refusal::Conflict)) => Ok(None),
        Err(error) => Err(error),
    }
}
