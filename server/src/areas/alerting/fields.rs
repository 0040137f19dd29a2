//! Rules of fields that several resources have.

use super::error::Invalid;
use crate::areas::alerting::limits;
use crate::platform::bounded::AtMost;
use crate::platform::calendar::Zone;
use crate::platform::fields;
pub(super) use crate::platform::fields::time;

/// Names of affected services as sent.
pub(super) type Services = AtMost<String, { limits::SERVICES_MAX }>;

/// Validates the name of a resource; an absent name counts as empty.
pub(super) fn name(text: Option<String>) -> Result<String, Invalid> {
    fields::name(text, limits::ALERTING_NAME_CHARS_MAX)
}

/// Validates a description.
pub(super) fn description(text: Option<String>) -> Result<Option<String>, Invalid> {
    fields::text("description", text, limits::ALERTING_DESCRIPTION_CHARS_MAX)
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
