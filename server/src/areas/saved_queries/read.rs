//! Reads a saved query from a request, so that any error in its form is `invalid_query`.

use serde_json::value::RawValue;

use super::error::InvalidQuery;
use super::query::SavedQuery;
use crate::platform::json::read_typed;

/// Parses a query; any error in its form is an invalid query.
pub fn read_query(sent: &RawValue) -> Result<SavedQuery, InvalidQuery> {
    if !sent.get().starts_with('{') {
        return Err(InvalidQuery::new("", "must be an object"));
    }
    read_typed(sent.get().as_bytes())
        .map_err(|misfit| InvalidQuery::new(&misfit.field, misfit.rule_message()))
}
