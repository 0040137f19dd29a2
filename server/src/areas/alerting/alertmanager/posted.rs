//! Alerts as they are received: the rules that Alertmanager enforces, and limits.

use std::collections::BTreeMap;

use telltale_engine::TimestampMs;

use super::fingerprint::Fingerprint;

/// Labels of an alert, and annotations of an alert.
const LABELS_MAX: usize = 64;
/// Characters of the name of a label or an annotation.
const NAME_CHARS_MAX: usize = 200;
/// Characters of the value of a label, and of the URL of the generator.
const VALUE_CHARS_MAX: usize = 2_000;
/// Bytes of all annotations of an alert: names and values.
const ANNOTATIONS_BYTES_MAX: usize = 32 << 10;
/// Bytes of all labels of an alert: they are in the state, the messages and the log of alerts.
const LABELS_BYTES_MAX: usize = 16 << 10;

/// The parts of an alert as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertParts {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The annotations.
    pub annotations: BTreeMap<String, String>,
    /// When the alert began to fire.
    pub starts_at: Option<TimestampMs>,
    /// When it ended, or will end unless it is sent again.
    pub ends_at: Option<TimestampMs>,
    /// The page that explains the alert; empty if there is none.
    pub generator_url: String,
}

/// A valid alert. Its labels identify it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedAlert {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    starts_at: TimestampMs,
    end: AlertEnd,
    generator_url: String,
}

/// When an alert ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertEnd {
    /// The sender says so.
    Sent(TimestampMs),
    /// The sender does not say; the alert ends unless it is sent again before.
    Assumed(TimestampMs),
}

/// Why an alert is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAlert {
    /// A time cannot be parsed.
    #[error("{0} is not an RFC 3339 date-time")]
    Time(&'static str),
    /// The alert began before 1970.
    #[error("startsAt is before 1970")]
    TooEarly,
    /// The alert ended before it began.
    #[error("start time must be before end time")]
    Order,
    /// There is no label with a value.
    #[error("at least one label pair required")]
    NoLabels,
    /// A label is invalid.
    #[error("invalid label set: {0}")]
    Labels(String),
    /// An annotation is invalid.
    #[error("invalid annotations: {0}")]
    Annotations(String),
    /// The URL is too long.
    #[error("generatorURL has more than {VALUE_CHARS_MAX} characters")]
    GeneratorUrl,
}

impl AlertEnd {
    /// Returns the time.
    pub fn time(self) -> TimestampMs {
        match self {
            Self::Sent(time) | Self::Assumed(time) => time,
        }
    }
}

impl PostedAlert {
    /// Checks an alert that arrives now. Labels without a value count as absent. An alert without
    /// an end is assumed to end `resolve_timeout_ms` from now; one without a start began now, or
    /// when it ended.
    pub fn new(
        parts: AlertParts,
        now: TimestampMs,
        resolve_timeout_ms: i64,
    ) -> Result<Self, InvalidAlert> {
        let AlertParts { mut labels, annotations, starts_at, ends_at, generator_url } = parts;
        labels.retain(|_, value| !value.is_empty());
        let starts_at = starts_at.or(ends_at).unwrap_or(now);
        let assumed = || AlertEnd::Assumed(TimestampMs(now.0.saturating_add(resolve_timeout_ms)));
        let end = ends_at.map_or_else(assumed, AlertEnd::Sent);
        if starts_at.0 < 0 {
            return Err(InvalidAlert::TooEarly);
        }
        if end.time() < starts_at {
            return Err(InvalidAlert::Order);
        }
        if labels.is_empty() {
            return Err(InvalidAlert::NoLabels);
        }
        check_labels(&labels).map_err(InvalidAlert::Labels)?;
        check_annotations(&annotations).map_err(InvalidAlert::Annotations)?;
        if is_longer(&generator_url, VALUE_CHARS_MAX) {
            return Err(InvalidAlert::GeneratorUrl);
        }
        Ok(Self { labels, annotations, starts_at, end, generator_url })
    }

    /// Returns the labels, at least one, each with a value.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Returns the annotations.
    pub fn annotations(&self) -> &BTreeMap<String, String> {
        &self.annotations
    }

    /// Returns when the alert began to fire.
    pub fn starts_at(&self) -> TimestampMs {
        self.starts_at
    }

    /// Returns when the alert ends, not before it began.
    pub fn end(&self) -> AlertEnd {
        self.end
    }

    /// Returns the page that explains the alert; empty if there is none. It is what the sender
    /// wrote, not necessarily a URL.
    pub fn generator_url(&self) -> &str {
        &self.generator_url
    }

    /// Returns the hash of the labels.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.labels)
    }

    /// Returns whether the alert has ended.
    pub fn is_resolved(&self, now: TimestampMs) -> bool {
        self.end.time() <= now
    }
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), String> {
    check_names(labels)?;
    if let Some((name, _)) = labels.iter().find(|(_, value)| is_longer(value, VALUE_CHARS_MAX)) {
        return Err(format!("{name:?} has more than {VALUE_CHARS_MAX} characters"));
    }
    check_bytes(labels, LABELS_BYTES_MAX)
}

fn check_annotations(annotations: &BTreeMap<String, String>) -> Result<(), String> {
    check_names(annotations)?;
    check_bytes(annotations, ANNOTATIONS_BYTES_MAX)
}

fn check_bytes(set: &BTreeMap<String, String>, max: usize) -> Result<(), String> {
    let bytes: usize = set.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > max { Err(format!("they have {bytes} bytes, more than {max}")) } else { Ok(()) }
}

/// Checks names: any characters, as in Prometheus 3, but at least one.
fn check_names(set: &BTreeMap<String, String>) -> Result<(), String> {
    if set.len() > LABELS_MAX {
        return Err(format!("more than {LABELS_MAX} names"));
    }
    if set.contains_key("") {
        return Err("invalid name \"\"".to_owned());
    }
    if set.keys().any(|name| is_longer(name, NAME_CHARS_MAX)) {
        return Err(format!("a name has more than {NAME_CHARS_MAX} characters"));
    }
    Ok(())
}

fn is_longer(text: &str, chars_max: usize) -> bool {
    text.chars().nth(chars_max).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: TimestampMs = TimestampMs(1_000_000);
    const TIMEOUT_MS: i64 = 300_000;

    fn set(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn numbered(count: usize) -> BTreeMap<String, String> {
        (0..count).map(|n| (format!("l{n}"), "v".to_owned())).collect()
    }

    fn valid() -> AlertParts {
        AlertParts { labels: set(&[("alertname", "Down")]), ..AlertParts::default() }
    }

    fn check(parts: AlertParts) -> Result<PostedAlert, String> {
        PostedAlert::new(parts, NOW, TIMEOUT_MS).map_err(|error| error.to_string())
    }

    #[test]
    fn absent_times_are_filled_in() {
        let assumed = AlertEnd::Assumed(TimestampMs(1_300_000));
        for (starts_at, ends_at, start, end) in [
            (None, None, NOW.0, assumed),
            (Some(5), None, 5, assumed),
            (Some(1_300_000), None, 1_300_000, assumed),
            (None, Some(7), 7, AlertEnd::Sent(TimestampMs(7))),
            (Some(7), Some(7), 7, AlertEnd::Sent(TimestampMs(7))),
            (Some(0), Some(i64::MAX), 0, AlertEnd::Sent(TimestampMs(i64::MAX))),
        ] {
            let (starts_at, ends_at) = (starts_at.map(TimestampMs), ends_at.map(TimestampMs));
            let alert = check(AlertParts { starts_at, ends_at, ..valid() }).unwrap();
            assert_eq!((alert.starts_at().0, alert.end()), (start, end), "{starts_at:?}");
        }
        let ended = AlertParts { ends_at: Some(NOW), ..valid() };
        assert!(check(ended).unwrap().is_resolved(NOW));
        assert!(!check(valid()).unwrap().is_resolved(NOW));
    }

    #[test]
    fn labels_without_a_value_count_as_absent() {
        let labels = set(&[("alertname", "Down"), ("job", ""), ("", "")]);
        let alert = check(AlertParts { labels, ..valid() }).unwrap();
        assert_eq!(alert.labels(), &set(&[("alertname", "Down")]));
        assert_eq!(alert.fingerprint(), check(valid()).unwrap().fingerprint());
    }

    #[test]
    fn what_is_at_the_limits_is_accepted() {
        let mut labels = numbered(62);
        labels.insert("ä".repeat(200), "v".to_owned());
        labels.insert("Σ .\n".to_owned(), "ä".repeat(2_000));
        let annotations = set(&[("a", &"x".repeat((32 << 10) - 1))]);
        let generator_url = "ä".repeat(2_000);
        let alert = check(AlertParts { labels, annotations, generator_url, ..valid() }).unwrap();
        assert_eq!((alert.labels().len(), alert.annotations().len()), (64, 1));
    }

    #[test]
    fn invalid_alerts_are_refused_in_the_words_of_alertmanager() {
        let time = |ms| Some(TimestampMs(ms));
        for (parts, expected) in [
            (
                AlertParts { starts_at: time(8), ends_at: time(7), ..valid() },
                "start time must be before end time",
            ),
            (
                AlertParts { starts_at: time(1_300_001), ..valid() },
                "start time must be before end time",
            ),
            (AlertParts { starts_at: time(-1), ..valid() }, "startsAt is before 1970"),
            (AlertParts::default(), "at least one label pair required"),
            (
                AlertParts { labels: set(&[("a", "")]), ..valid() },
                "at least one label pair required",
            ),
            (
                AlertParts { labels: set(&[("", "v")]), ..valid() },
                "invalid label set: invalid name \"\"",
            ),
            (
                AlertParts { labels: numbered(65), ..valid() },
                "invalid label set: more than 64 names",
            ),
            (
                AlertParts { labels: set(&[(&"a".repeat(201), "v")]), ..valid() },
                "invalid label set: a name has more than 200 characters",
            ),
            (
                AlertParts { labels: set(&[("a", &"v".repeat(2_001))]), ..valid() },
                "invalid label set: \"a\" has more than 2000 characters",
            ),
            (
                AlertParts { annotations: set(&[("", "")]), ..valid() },
                "invalid annotations: invalid name \"\"",
            ),
            (
                AlertParts { annotations: numbered(65), ..valid() },
                "invalid annotations: more than 64 names",
            ),
            (
                AlertParts { annotations: set(&[("a", &"x".repeat(32 << 10))]), ..valid() },
                "invalid annotations: they have 32769 bytes, more than 32768",
            ),
            (
                AlertParts { generator_url: "x".repeat(2_001), ..valid() },
                "generatorURL has more than 2000 characters",
            ),
        ] {
            assert_eq!(check(parts), Err(expected.to_owned()));
        }
    }
}
