//! Rules of fields that several resources have.

use std::collections::BTreeSet;

use super::ids::MonitorId;
use super::limits;
use crate::platform::bounded::AtMost;
pub(super) use crate::platform::fields::time;
use crate::platform::fields::{self, Invalid};

/// Ids of monitors as sent.
pub(super) type MonitorIds = AtMost<String, { limits::PAGE_MONITORS_MAX }>;

/// The id of a monitor, for the OpenAPI document.
pub(super) const MONITOR_ID: &str = "^mon_[0-7][0-9A-HJKMNP-TV-Z]{25}$";

/// What is expected of the id of a monitor.
pub(super) const NO_MONITOR: &str = "must be the id of a monitor";

/// Validates the name of a resource; an absent name counts as empty.
pub(super) fn name(text: Option<String>) -> Result<String, Invalid> {
    fields::name(text, limits::STATUS_NAME_CHARS_MAX)
}

/// Validates a required title.
pub(super) fn title(text: Option<String>) -> Result<String, Invalid> {
    let text = text.ok_or_else(|| Invalid::missing("title"))?;
    line("title", text, limits::STATUS_NAME_CHARS_MAX)
}

/// Validates a text of one line that is not blank.
pub(super) fn line(field: &'static str, text: String, max: usize) -> Result<String, Invalid> {
    let is_blank = text.chars().all(char::is_whitespace);
    if is_blank || text.chars().count() > max || text.chars().any(char::is_control) {
        let expected = format!("must have 1 to {max} characters, no control characters among them");
        return Err(Invalid::field(field, expected));
    }
    Ok(text)
}

/// Validates a text of several lines that is not blank.
pub(super) fn prose(field: &'static str, text: String, max: usize) -> Result<String, Invalid> {
    let is_blank = text.chars().all(char::is_whitespace);
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if is_blank || text.chars().count() > max || text.chars().any(is_odd) {
        let expected =
            format!("must have 1 to {max} characters, of control characters only line breaks");
        return Err(Invalid::field(field, expected));
    }
    Ok(text)
}

/// Validates ids of monitors; absent ids count as none. Whether there are such monitors is for the
/// operations to check.
pub(super) fn monitors(sent: Option<MonitorIds>) -> Result<Vec<MonitorId>, Invalid> {
    let max = limits::PAGE_MONITORS_MAX;
    let Some(sent) = sent else { return Ok(Vec::new()) };
    let too_many = |_| Invalid::field("monitors", format!("must have at most {max} ids"));
    let (mut ids, mut seen) = (Vec::new(), BTreeSet::new());
    for (i, text) in sent.all().map_err(too_many)?.iter().enumerate() {
        let invalid = |expected: &str| Invalid::field(format!("monitors[{i}]"), expected);
        let id = MonitorId::parse(text).ok_or_else(|| invalid(NO_MONITOR))?;
        if !seen.insert(id) {
            return Err(invalid("must be unique"));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// Checks that monitors are among those of a status page.
pub(super) fn check_on_page(monitors: &[MonitorId], page: &[MonitorId]) -> Result<(), Invalid> {
    match monitors.iter().position(|id| !page.contains(id)) {
        Some(i) => {
            let expected = "must be the id of a monitor of the status page";
            Err(Invalid::field(format!("monitors[{i}]"), expected))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::fields::FieldRule;

    #[test]
    fn titles_and_texts_have_limits() {
        let max = limits::STATUS_NAME_CHARS_MAX;
        assert!(title(Some("ü".repeat(max))).is_ok());
        for text in ["ü".repeat(max + 1).as_str(), "", " ", "a\nb", "\u{7f}"] {
            let invalid = title(Some(text.to_owned())).unwrap_err();
            assert_eq!((invalid.rule, invalid.field.as_str()), (FieldRule::Field, "title"));
        }
        assert_eq!(title(None).unwrap_err(), Invalid::missing("title"));
        assert!(prose("message", "a\r\n\tb".to_owned(), 5).is_ok());
        for text in ["", " \n", "a\0", "\u{1b}[1m", "abcdef"] {
            assert!(prose("message", text.to_owned(), 5).is_err(), "{text:?}");
        }
    }

    #[test]
    fn monitors_are_unique_ids() {
        let [one, other] = [31, 30].map(|id| MonitorId(id).text());
        let read = |ids: &[&str]| {
            let sent = serde_json::from_value(serde_json::json!(ids)).unwrap();
            monitors(Some(sent)).map_err(|invalid| invalid.field)
        };
        assert_eq!(read(&[&other, &one]), Ok(vec![MonitorId(30), MonitorId(31)]));
        assert_eq!(read(&[&one, &other, &one]), Err("monitors[2]".to_owned()));
        assert_eq!(read(&[&one, "mon_1"]), Err("monitors[1]".to_owned()));
        assert_eq!(read(&[&one.to_lowercase()]), Err("monitors[0]".to_owned()));
        assert_eq!(monitors(None), Ok(Vec::new()));
        let max = limits::PAGE_MONITORS_MAX;
        let many: Vec<String> = (0..=max as u128).map(|id| MonitorId(id).text()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(read(&many[1..]).map(|ids| ids.len()), Ok(max));
        assert_eq!(read(&many), Err("monitors".to_owned()));
    }
}
