//! The query parameters of a list of alerts.
//!
//! `active`, `silenced`, `inhibited` and `unprocessed` say whether alerts in this state are listed,
//! by default all; `receiver` is an expression, of which one receiver must match; `filter`, any
//! number of times, is a [matcher](LabelMatcher). Alerts that have ended are not listed.

use telltale_engine::TimestampMs;

use super::matchers::{LabelMatcher, LabelPattern, MatcherError};
use super::shown::{AlertState, ShownAlert};

/// Matchers of a request: more than any user interface has fields for.
const MATCHERS_MAX: usize = 32;

/// Which alerts are listed.
#[derive(Clone, Debug)]
pub struct AlertFilter {
    active: bool,
    silenced: bool,
    inhibited: bool,
    unprocessed: bool,
    receiver: Option<LabelPattern>,
    matchers: Vec<LabelMatcher>,
}

/// Why the query parameters are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAlertFilter {
    /// A matcher is invalid.
    #[error(transparent)]
    Matcher(#[from] MatcherError),
    /// There are too many matchers.
    #[error("more than {MATCHERS_MAX} filters")]
    TooMany,
    /// The expression for receivers is invalid.
    #[error("failed to parse receiver param: {0}")]
    Receiver(MatcherError),
    /// A parameter is neither true nor false.
    #[error("{0} in query must be true or false")]
    NotBoolean(&'static str),
}

impl Default for AlertFilter {
    fn default() -> Self {
        Self {
            active: true,
            silenced: true,
            inhibited: true,
            unprocessed: true,
            receiver: None,
            matchers: Vec::new(),
        }
    }
}

impl AlertFilter {
    /// Parses decoded query parameters. Of a parameter other than `filter` that is repeated, the
    /// last one counts, and an empty one counts as absent.
    pub fn parse<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, InvalidAlertFilter> {
        let mut filter = Self::default();
        for (key, value) in pairs {
            match key {
                "active" => filter.active = boolean("active", value)?,
                "silenced" => filter.silenced = boolean("silenced", value)?,
                "inhibited" => filter.inhibited = boolean("inhibited", value)?,
                "unprocessed" => filter.unprocessed = boolean("unprocessed", value)?,
                "receiver" if value.is_empty() => filter.receiver = None,
                "receiver" => {
                    let pattern = LabelPattern::parse(value);
                    filter.receiver = Some(pattern.map_err(InvalidAlertFilter::Receiver)?);
                }
                "filter" if filter.matchers.len() == MATCHERS_MAX => {
                    return Err(InvalidAlertFilter::TooMany);
                }
                "filter" => filter.matchers.push(LabelMatcher::parse(value)?),
                _ => {}
            }
        }
        Ok(filter)
    }

    /// Returns whether an alert is listed now.
    pub fn shows(&self, alert: &ShownAlert, now: TimestampMs) -> bool {
        let is_of_receiver = |pattern: &LabelPattern| {
            alert.receivers.iter().any(|receiver| pattern.matches(receiver))
        };
        alert.ends_at >= now
            && (self.active || alert.state != AlertState::Active)
            && (self.unprocessed || alert.state != AlertState::Unprocessed)
            && (self.silenced || alert.silenced_by.is_empty())
            && (self.inhibited || alert.inhibited_by.is_empty())
            && self.receiver.as_ref().is_none_or(is_of_receiver)
            && self.matchers.iter().all(|matcher| matcher.matches(&alert.labels))
    }
}

/// Parses a boolean in one of the words that Alertmanager accepts.
fn boolean(key: &'static str, value: &str) -> Result<bool, InvalidAlertFilter> {
    match value.to_ascii_lowercase().as_str() {
        "" | "true" | "1" | "t" | "yes" | "y" | "on" => Ok(true),
        "false" | "0" | "f" | "no" | "n" | "off" => Ok(false),
        _ => Err(InvalidAlertFilter::NotBoolean(key)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn alert() -> ShownAlert {
        ShownAlert {
            labels: BTreeMap::from([("alertname".to_owned(), "Down".to_owned())]),
            annotations: BTreeMap::new(),
            starts_at: TimestampMs(0),
            ends_at: TimestampMs(10),
            updated_at: TimestampMs(0),
            generator_url: String::new(),
            receivers: vec!["ops".to_owned(), "web-team".to_owned()],
            state: AlertState::Active,
            silenced_by: Vec::new(),
            inhibited_by: Vec::new(),
            muted_by: Vec::new(),
        }
    }

    #[track_caller]
    fn check(alert: &ShownAlert, pairs: &[(&str, &str)], expected: bool) {
        let filter = AlertFilter::parse(pairs.iter().copied()).unwrap();
        assert_eq!(filter.shows(alert, TimestampMs(5)), expected, "{pairs:?}");
    }

    #[test]
    fn each_parameter_selects() {
        for (pairs, expected) in [
            (&[][..], true),
            (&[("active", "true")], true),
            (&[("active", "false")], false),
            (&[("active", "0"), ("active", "1")], true),
            (&[("active", "")], true),
            (&[("silenced", "false"), ("inhibited", "no"), ("unprocessed", "OFF")], true),
            (&[("receiver", "web-team")], true),
            (&[("receiver", "web-.*|x")], true),
            (&[("receiver", "web")], false),
            (&[("receiver", "")], true),
            (&[("filter", "alertname=Down")], true),
            (&[("filter", "alertname=Down"), ("filter", "job=~.+")], false),
            (&[("filter", "alertname!=Down")], false),
            (&[("unknown", "x"), ("Active", "false")], true),
        ] {
            check(&alert(), pairs, expected);
        }
    }

    #[test]
    fn states_are_selected_separately() {
        let one = || vec!["1".to_owned()];
        let suppressed = ShownAlert { state: AlertState::Suppressed, ..alert() };
        let silenced = ShownAlert { silenced_by: one(), ..suppressed.clone() };
        let inhibited = ShownAlert { inhibited_by: one(), ..suppressed };
        let unprocessed = ShownAlert { state: AlertState::Unprocessed, ..alert() };
        let states =
            [("silenced", silenced), ("inhibited", inhibited), ("unprocessed", unprocessed)];
        for (key, alert) in &states {
            for (other, _) in &states {
                check(alert, &[(other, "false")], key != other);
            }
            check(alert, &[("active", "false")], true);
        }
    }

    #[test]
    fn alerts_that_have_ended_are_not_listed() {
        for (ends_at, expected) in [(4, false), (5, true)] {
            check(&ShownAlert { ends_at: TimestampMs(ends_at), ..alert() }, &[], expected);
        }
    }

    #[test]
    fn invalid_parameters_are_named() {
        for (pair, expected) in [
            (("active", "maybe"), "active in query must be true or false"),
            (
                ("receiver", "("),
                "failed to parse receiver param: error parsing regexp: unclosed group",
            ),
            (("filter", "x"), "bad matcher format: x"),
            (("filter", ""), "bad matcher format: "),
        ] {
            assert_eq!(AlertFilter::parse([pair]).unwrap_err().to_string(), expected);
        }
        let many = |count| AlertFilter::parse(vec![("filter", "a=b"); count]);
        assert!(many(32).is_ok());
        assert_eq!(many(33).unwrap_err().to_string(), "more than 32 filters");
    }
}
