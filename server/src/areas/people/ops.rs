//! The operations of the area. All of them block.

use telltale_engine::fold_case;

use super::error::PeopleError;
use super::model::Preferences;
use super::store;
use crate::app::App;
use crate::areas::people::limits as own_limits;
use crate::areas::people_of_areas;
use crate::platform::people::{People, Person};

/// Returns the people that the server knows and whose names have this text, ignoring case, by name.
pub(super) fn users(app: &App, search: Option<&str>) -> Vec<(String, Person)> {
    let mut people = People::default();
    for (area, add) in people_of_areas() {
        if let Err(error) = add(app, &mut people) {
            tracing::warn!(area, %error, "the people of an area cannot be read");
        }
    }
    let search = search.map(fold_case);
    let is_wanted =
        |name: &str| search.as_deref().is_none_or(|search| fold_case(name).contains(search));
    people.into_all().filter(|(name, _)| is_wanted(name)).collect()
}

/// Returns the preferences of a user.
pub(super) fn preferences(app: &App, user: &str) -> Result<Preferences, PeopleError> {
    Ok(store::get(app.engine(), user)?)
}

/// Replaces the preferences of a user. `fits` returns whether a revision satisfies the caller's
/// `If-Match`.
pub(super) fn set_preferences(
    app: &App,
    user: &str,
    json: &str,
    fits: impl Fn(u64) -> bool,
) -> Result<Preferences, PeopleError> {
    for _ in 0..own_limits::PREFERENCES_TRIES_MAX {
        let before = store::get(app.engine(), user)?;
        if !fits(before.revision) {
            return Err(PeopleError::Changed);
        }
        if before.revision == 0 && store::count(app.engine())? >= own_limits::PREFERENCES_MAX {
            return Err(PeopleError::TooMany);
        }
        let now = app.now();
        if let Some(revision) = store::replace(app.engine(), user, json, now, before.revision)? {
            let (user, json) = (user.to_owned(), json.to_owned());
            return Ok(Preferences { user, json, updated_at: Some(now), revision });
        }
    }
    Err(PeopleError::Busy)
}
