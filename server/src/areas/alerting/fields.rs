//! Rules of fields that several resources have.

use telltale_engine::TimestampMs;

use super::error::{Invalid, Rule};
use crate::areas::alerting::limits;
use crate::http::{ApiError, ErrorCode};
use crate::platform::bounded::AtMost;
use crate::platform::calendar::{FIRST_INSTANT, LAST_INSTANT, Zone};
use crate::platform::time;

/// Names of affected services as sent.
pub(super) type Services = AtMost<String, { limits::SERVICES_MAX }>;

/// Validates the name of a resource; an absent name counts as empty.
pub(super) fn name(text: Option<String>) -> Result<String, Invalid> {
    let text = text.unwrap_or_default();
    let (field, max) = ("name".to_owned(), limits::ALERTING_NAME_CHARS_MAX);
    if text.is_empty() {
        return Err(Invalid { rule: Rule::NameMissing, field, expected: "is required".to_owned() });
    }
    if text.chars().count() > max || text.chars().any(char::is_control) {
        let expected = format!("must have at most {max} characters and no control characters");
        return Err(Invalid { rule: Rule::Name, field, expected });
    }
    if text.chars().all(char::is_whitespace) {
        let expected = "must not consist of spaces only".to_owned();
        return Err(Invalid { rule: Rule::Name, field, expected });
    }
    Ok(text)
}

/// Validates a description.
pub(super) fn description(text: Option<String>) -> Result<Option<String>, Invalid> {
    let max = limits::ALERTING_DESCRIPTION_CHARS_MAX;
    match text {
        Some(text) if text.chars().count() > max => {
            Err(Invalid::field("description", format!("must have at most {max} characters")))
        }
        text => Ok(text),
    }
}

/// Validates the names of affected services; absent names count as none.
pub(super) fn services(sent: Option<Services>) -> Result<Vec<String>, Invalid> {
    let (max, chars_max) = (limits::SERVICES_MAX, limits::SERVICE_CHARS_MAX);
    let Some(sent) = sent else { return Ok(Vec::new()) };
    let too_many = |_| Invalid::field("services", format!("must have at most {max} services"));
    let services = sent.all().map_err(too_many)?;
    let is_valid = |name: &String| (1..=chars_max).contains(&name.chars().count());
    match services.iter().position(|name| !is_valid(name)) {
        Some(i) => Err(Invalid::field(
            format!("services[{i}]"),
            format!("must have 1 to {chars_max} characters"),
        )),
        None => Ok(services),
    }
}

/// Parses the name of a time zone.
pub(super) fn timezone(name: &str) -> Result<Zone, Invalid> {
    Zone::parse(name).map_err(|error| Invalid::field("timezone", error.to_string()))
}

/// Parses a required time.
pub(super) fn time(field: &'static str, text: Option<&str>) -> Result<TimestampMs, ApiError> {
    let text = text.ok_or_else(|| Invalid::missing(field))?;
    let time = time::parse(text).filter(|time| (FIRST_INSTANT..=LAST_INSTANT).contains(time));
    time.ok_or_else(|| {
        let expected = "must be an ISO 8601 date-time such as 2026-01-02T03:04:05.678Z";
        ApiError::new(ErrorCode::InvalidTimestamp, format!("{field} {expected}")).field(field)
    })
}
