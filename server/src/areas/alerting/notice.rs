//! What a notification says, independent of the channel that carries it, and the strings that the
//! formats of all channels share.
//!
//! Names and labels come from users and clients. Every string returned here is one line without
//! control characters; it is neither escaped nor cut, because each format escapes and cuts in its
//! own way.

use telltale_engine::TimestampMs;

use crate::areas::alerting::limits;
use crate::platform::time;

/// Significant digits of a number in a text. Every decimal number with so many digits survives the
/// conversion to `f64` and back; the next digit may be noise, as in 0.30000000000000004.
const SIGNIFICANT_DIGITS: usize = 15;
/// Magnitudes from this one up to [`PLAIN_END`] are written without an exponent.
const PLAIN_START: f64 = 1e-6;
/// See [`PLAIN_START`].
const PLAIN_END: f64 = 1e21;

/// Why a notification is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The alerts fire, or still fire.
    Firing,
    /// Someone took charge of the alerts.
    Acknowledged,
    /// The alerts have ended.
    Resolved,
    /// The alerts change their state so often that their changes are no longer sent.
    Flapping,
    /// The alerts no longer flap; those without an end fire.
    Settled,
    /// Someone tests the channel.
    Test,
}

/// How urgent an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// To be looked at soon.
    Warning,
    /// To be looked at now.
    Critical,
}

/// A notification about alerts of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub kind: NoticeKind,
    pub rule_id: String,
    pub rule_name: String,
    pub severity: Severity,
    /// The condition in words: `avg of cpu.usage > 90 over 5m`.
    pub condition: String,
    /// The sign between a value and its threshold, such as `>`; `None` for a rule about absent
    /// data.
    pub comparison: Option<&'static str>,
    /// The first alerts, at most `limits::NOTICE_ALERTS_MAX`.
    pub alerts: Vec<NoticeAlert>,
    /// The number of all alerts.
    pub total: usize,
    /// How often the escalation policy had started over: 0 in its first cycle.
    pub cycle: u32,
    pub sent_at: TimestampMs,
    /// The URL of this server as its users know it; without it there are no links.
    pub base_url: Option<String>,
}

/// An alert in a notification.
#[derive(Clone, Debug, PartialEq)]
pub struct NoticeAlert {
    pub id: String,
    /// The same for all alerts of one rule and group: receivers combine them by it.
    pub dedup_key: String,
    pub labels: Vec<(String, String)>,
    /// The last value; `None` for absent data.
    pub value: Option<f64>,
    pub threshold: Option<f64>,
    pub since: TimestampMs,
    pub ended_at: Option<TimestampMs>,
    /// Who acknowledged or resolved the alert; `None` if it ended by itself.
    pub by: Option<String>,
    pub summary: Option<String>,
}

impl NoticeKind {
    /// Returns the name, as in the type of a webhook's event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
            Self::Flapping => "flapping",
            Self::Settled => "settled",
            Self::Test => "test",
        }
    }
}

impl Severity {
    /// All severities.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    /// Parses a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.as_str() == text)
    }

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl Notice {
    /// Returns the notification that tests the channel `channel_id`. It takes the same path through
    /// the formats as one about an alert.
    pub fn test(channel_id: &str, sent_at: TimestampMs, base_url: Option<String>) -> Self {
        let alert = NoticeAlert {
            id: "alert_test".to_owned(),
            dedup_key: format!("telltale-test-{channel_id}"),
            labels: vec![("host".to_owned(), "example".to_owned())],
            value: Some(97.3),
            threshold: Some(90.0),
            since: sent_at,
            ended_at: None,
            by: None,
            summary: Some("This is a test of the channel; nothing is wrong".to_owned()),
        };
        Self {
            kind: NoticeKind::Test,
            rule_id: "rule_test".to_owned(),
            rule_name: "Example rule".to_owned(),
            severity: Severity::Info,
            condition: "avg of cpu.usage > 90 over 5m".to_owned(),
            comparison: Some(">"),
            alerts: vec![alert],
            total: 1,
            cycle: 0,
            sent_at,
            base_url,
        }
    }

    /// Returns the title: `[critical] CPU high: host=a`, `Resolved: 3 alerts: CPU high`.
    pub fn title(&self) -> String {
        match self.alerts.as_slice() {
            [alert] if self.total() == 1 => self.alert_title(alert),
            _ => {
                let name = one_line(&self.rule_name);
                format!("{} {} alerts: {name}", self.title_prefix(), self.total())
            }
        }
    }

    /// Returns the title of a message about one of the alerts only, as paging services take them.
    pub fn alert_title(&self, alert: &NoticeAlert) -> String {
        let mut title = format!("{} {}", self.title_prefix(), one_line(&self.rule_name));
        let labels = alert.label_text();
        if !labels.is_empty() {
            title.push_str(": ");
            title.push_str(&labels);
        }
        title
    }

    fn title_prefix(&self) -> String {
        match self.kind {
            NoticeKind::Firing => format!("[{}]", self.severity.as_str()),
            NoticeKind::Acknowledged => "Acknowledged:".to_owned(),
            NoticeKind::Resolved => "Resolved:".to_owned(),
            NoticeKind::Flapping => "Flapping:".to_owned(),
            NoticeKind::Settled => "Settled:".to_owned(),
            NoticeKind::Test => "Test:".to_owned(),
        }
    }

    /// Returns the alerts that are described.
    pub fn described(&self) -> &[NoticeAlert] {
        let count = self.alerts.len().min(limits::NOTICE_ALERTS_MAX);
        self.alerts.get(..count).unwrap_or_default()
    }

    /// Returns the number of all alerts.
    pub fn total(&self) -> usize {
        self.total.max(self.alerts.len())
    }

    /// Returns `and 37 more`; `None` if all alerts are described.
    pub fn more(&self) -> Option<String> {
        let count = self.total() - self.described().len();
        (count > 0).then(|| format!("and {count} more"))
    }

    /// Returns the condition as one line.
    pub fn condition(&self) -> String {
        one_line(&self.condition)
    }

    /// Returns one line about an alert: `host=a,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z`.
    pub fn line(&self, alert: &NoticeAlert) -> String {
        let mut line = alert.label_text();
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&match alert.ended_at {
            None => self.state_while_firing(alert),
            Some(ended_at) => state_after_end(alert, ended_at),
        });
        if let Some(summary) = &alert.summary {
            line.push_str(". ");
            line.push_str(&one_line(summary));
        }
        line
    }

    fn state_while_firing(&self, alert: &NoticeAlert) -> String {
        let measured = match (alert.value, self.comparison, alert.threshold) {
            (Some(value), Some(sign), Some(threshold)) => {
                format!("{} {sign} {}", number(value), number(threshold))
            }
            (Some(value), ..) => number(value),
            (None, ..) => "no data".to_owned(),
        };
        let since = to_seconds(alert.since);
        match &alert.by {
            None => format!("{measured} since {since}"),
            Some(by) => format!("{measured} since {since}, acknowledged by {}", one_line(by)),
        }
    }

    /// Returns the URL of an alert, of characters that no format has to escape. `None` if the
    /// server has no URL, or one that has other characters or is too long.
    pub fn link(&self, alert: &NoticeAlert) -> Option<String> {
        let base = self.base_url.as_ref()?.trim_end_matches('/');
        let link = format!("{base}/api/v1/alerts/{}", alert.id);
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/?#@!$+,;=%[]".contains(&b);
        let has_scheme = link.starts_with("https://") || link.starts_with("http://");
        let is_short = link.len() <= limits::NOTICE_LINK_CHARS_MAX;
        (has_scheme && is_short && link.bytes().all(is_plain)).then_some(link)
    }

    /// Returns the link if the notification is about a single alert.
    pub fn single_link(&self) -> Option<String> {
        match self.alerts.as_slice() {
            [alert] if self.total() == 1 => self.link(alert),
            _ => None,
        }
    }
}

fn state_after_end(alert: &NoticeAlert, ended_at: TimestampMs) -> String {
    let value = alert.value.map(|value| format!("{}, ", number(value))).unwrap_or_default();
    let by = alert.by.as_ref().map(|by| format!(", resolved by {}", one_line(by)));
    let (since, end) = (to_seconds(alert.since), to_seconds(ended_at));
    format!("{value}from {since} to {end}{}", by.unwrap_or_default())
}

impl NoticeAlert {
    /// Returns the labels: `host=a,region=eu`.
    pub fn label_text(&self) -> String {
        let pairs = self.labels.iter().map(|(key, value)| format!("{key}={value}"));
        one_line(&pairs.collect::<Vec<_>>().join(","))
    }
}

/// Returns the text with a space in place of each character that would end the line, or change the
/// direction of what follows it.
pub fn one_line(text: &str) -> String {
    let breaks = |c: char| {
        let is_separator = matches!(c, '\u{2028}' | '\u{2029}');
        let changes_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c.is_control() || is_separator || changes_direction
    };
    text.chars().map(|c| if breaks(c) { ' ' } else { c }).collect()
}

/// Returns a number as people write it: `97.3`, `-0.5`, `12000000`. Fractions are rounded to
/// `SIGNIFICANT_DIGITS`; only very large and very small numbers have an exponent.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        // Without the sign of -0.
        return "0".to_owned();
    }
    let value = if value.fract() == 0.0 { value } else { rounded(value) };
    if (PLAIN_START..PLAIN_END).contains(&value.abs()) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

fn rounded(value: f64) -> f64 {
    let digits = format!("{value:.*e}", SIGNIFICANT_DIGITS - 1);
    match digits.parse() {
        Ok(rounded) => rounded,
        Err(error) => panic!("{digits} is a formatted number: {error}"),
    }
}

/// Returns the instant without its milliseconds: `2026-01-02T03:04:05Z`.
fn to_seconds(time: TimestampMs) -> String {
    let text = time::format(time);
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => panic!("{text} has milliseconds"),
    }
}

#[cfg(test)]
pub mod examples {
    //! Notifications for the tests of the formats.

    use super::*;

    /// 2026-01-02T03:04:05.678Z.
    pub const SINCE: TimestampMs = TimestampMs(1_767_323_045_678);

    /// Returns the firing alert number `number`.
    pub fn alert(number: usize) -> NoticeAlert {
        NoticeAlert {
            id: format!("alert_{number}"),
            dedup_key: format!("key-{number}"),
            labels: vec![
                ("host".to_owned(), format!("web-{number}")),
                ("region".to_owned(), "eu".to_owned()),
            ],
            value: Some(97.3),
            threshold: Some(90.0),
            since: SINCE,
            ended_at: None,
            by: None,
            summary: None,
        }
    }

    /// Returns a notification about one firing alert.
    pub fn firing() -> Notice {
        Notice {
            kind: NoticeKind::Firing,
            rule_id: "rule_1".to_owned(),
            rule_name: "CPU high".to_owned(),
            severity: Severity::Critical,
            condition: "avg of cpu.usage > 90 over 5m".to_owned(),
            comparison: Some(">"),
            alerts: vec![alert(1)],
            total: 1,
            cycle: 0,
            sent_at: TimestampMs(SINCE.0 + 60_000),
            base_url: Some("https://telltale.example/".to_owned()),
        }
    }

    /// Returns the notification about the end of that alert.
    pub fn resolved() -> Notice {
        let mut notice = Notice { kind: NoticeKind::Resolved, ..firing() };
        let ended = NoticeAlert { ended_at: Some(notice.sent_at), value: Some(85.0), ..alert(1) };
        notice.alerts = vec![ended];
        notice
    }

    /// Returns notifications whose strings are as long as they get, each made of one character that
    /// is expensive or has a meaning in some format.
    pub fn extreme() -> Vec<Notice> {
        let fills = [
            "😀",
            "&",
            "<",
            "\"",
            "\\",
            "*",
            "_",
            "é",
            "漢",
            "\r\n",
            "👩\u{200d}👩\u{200d}👧",
            "\u{1}",
        ];
        let kinds = [NoticeKind::Firing, NoticeKind::Resolved, NoticeKind::Test];
        let mut notices = Vec::new();
        for (fill, kind) in fills.iter().flat_map(|fill| kinds.map(|kind| (fill, kind))) {
            let long = |count: usize| fill.repeat(count);
            let label = |i: usize| {
                let text = long(if i == 0 { 4_000 } else { 1_000 });
                (format!("{i}{text}"), text)
            };
            let labels: Vec<(String, String)> = (0..40).map(label).collect();
            let mut notice = Notice {
                kind,
                rule_name: long(5_000),
                condition: long(5_000),
                total: 10_000,
                cycle: u32::MAX,
                ..firing()
            };
            let alert = |number| NoticeAlert {
                labels: labels.clone(),
                summary: Some(long(5_000)),
                by: Some(long(300)),
                dedup_key: format!("{number}{}", long(300)),
                value: Some(-1.797_693_134_862_315_7e308),
                ..alert(number)
            };
            notice.alerts = (0..12).map(alert).collect();
            notices.push(notice);
        }
        notices
    }
}

#[cfg(test)]
mod tests {
    use super::examples::{SINCE, alert, firing, resolved};
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (97.3, "97.3"),
            (90.0, "90"),
            (-0.5, "-0.5"),
            (0.1 + 0.2, "0.3"),
            (97.300_000_01, "97.30000001"),
            (1.0 / 3.0, "0.333333333333333"),
            (0.000_001, "0.000001"),
            (0.000_000_123, "1.23e-7"),
            (12_000_000.0, "12000000"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (1e20, "100000000000000000000"),
            (1e21, "1e21"),
            (-1.5e300, "-1.5e300"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn titles_name_the_kind_the_rule_and_a_single_alert() {
        let many = |kind| Notice { kind, total: 3, ..firing() };
        let one = |kind| Notice { kind, ..firing() };
        for (notice, expected) in [
            (firing(), "[critical] CPU high: host=web-1,region=eu"),
            (
                Notice { severity: Severity::Info, ..firing() },
                "[info] CPU high: host=web-1,region=eu",
            ),
            (one(NoticeKind::Acknowledged), "Acknowledged: CPU high: host=web-1,region=eu"),
            (one(NoticeKind::Flapping), "Flapping: CPU high: host=web-1,region=eu"),
            (one(NoticeKind::Settled), "Settled: CPU high: host=web-1,region=eu"),
            (resolved(), "Resolved: CPU high: host=web-1,region=eu"),
            (many(NoticeKind::Firing), "[critical] 3 alerts: CPU high"),
            (many(NoticeKind::Resolved), "Resolved: 3 alerts: CPU high"),
            (
                Notice { rule_name: "a\r\nBcc: b\u{202e}c".to_owned(), ..many(NoticeKind::Test) },
                "Test: 3 alerts: a  Bcc: b c",
            ),
        ] {
            assert_eq!(notice.title(), expected);
        }
        let unlabelled = NoticeAlert { labels: Vec::new(), ..alert(1) };
        assert_eq!(Notice { alerts: vec![unlabelled], ..firing() }.title(), "[critical] CPU high");
        let title = many(NoticeKind::Firing).alert_title(&alert(2));
        assert_eq!(title, "[critical] CPU high: host=web-2,region=eu");
    }

    #[test]
    fn a_line_says_what_is_known_about_an_alert() {
        let notice = firing();
        let ended_at = Some(TimestampMs(SINCE.0 + 60_000));
        for (alert, expected) in [
            (alert(1), "host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z"),
            (
                NoticeAlert { labels: Vec::new(), ..alert(1) },
                "97.3 > 90 since 2026-01-02T03:04:05Z",
            ),
            (
                NoticeAlert { value: None, threshold: None, ..alert(1) },
                "host=web-1,region=eu: no data since 2026-01-02T03:04:05Z",
            ),
            (
                NoticeAlert { threshold: None, ..alert(1) },
                "host=web-1,region=eu: 97.3 since 2026-01-02T03:04:05Z",
            ),
            (
                NoticeAlert { by: Some("ann@example.com".to_owned()), ..alert(1) },
                "host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z, acknowledged by ann@example.com",
            ),
            (
                NoticeAlert { ended_at, value: Some(85.0), ..alert(1) },
                "host=web-1,region=eu: 85, from 2026-01-02T03:04:05Z to 2026-01-02T03:05:05Z",
            ),
            (
                NoticeAlert { ended_at, value: None, by: Some("a\nb".to_owned()), ..alert(1) },
                "host=web-1,region=eu: from 2026-01-02T03:04:05Z to 2026-01-02T03:05:05Z, resolved by a b",
            ),
            (
                NoticeAlert { summary: Some("Look at\nthe disk".to_owned()), ..alert(1) },
                "host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z. Look at the disk",
            ),
        ] {
            assert_eq!(notice.line(&alert), expected);
        }
    }

    #[test]
    fn alerts_beyond_the_limit_are_counted() {
        for (alerts, total, described, more) in [
            (0, 0, 0, None),
            (1, 1, 1, None),
            (10, 10, 10, None),
            (10, 47, 10, Some("and 37 more")),
            (11, 11, 10, Some("and 1 more")),
            (11, 3, 10, Some("and 1 more")),
            (2, 10_000, 2, Some("and 9998 more")),
        ] {
            let notice = Notice { alerts: (0..alerts).map(alert).collect(), total, ..firing() };
            assert_eq!(notice.described().len(), described);
            assert_eq!(notice.more().as_deref(), more, "{alerts} {total}");
        }
    }

    #[test]
    fn links_are_plain_or_absent() {
        let long = format!("https://{}.example", "a".repeat(480));
        for (base_url, expected) in [
            (None, None),
            (Some("https://t.example"), Some("https://t.example/api/v1/alerts/alert_1")),
            (Some("https://t.example/x//"), Some("https://t.example/x/api/v1/alerts/alert_1")),
            (Some("https://t.example/a|b"), None),
            (Some("https://t.example/a)b"), None),
            (Some("https://t.example/<b>"), None),
            (Some("https://t.example/a b"), None),
            (Some("javascript:alert"), None),
            (Some(long.as_str()), None),
        ] {
            let notice = Notice { base_url: base_url.map(str::to_owned), ..firing() };
            assert_eq!(notice.link(&alert(1)).as_deref(), expected);
            assert_eq!(notice.single_link().as_deref(), expected);
        }
        assert_eq!(Notice { total: 2, ..firing() }.single_link(), None);
    }

    #[test]
    fn a_test_reads_like_a_notification() {
        let notice = Notice::test("chan_1", SINCE, None);
        assert_eq!(notice.title(), "Test: Example rule: host=example");
        let line = notice.line(&notice.alerts[0]);
        assert!(line.starts_with("host=example: 97.3 > 90 since 2026-01-02T03:04:05Z. "), "{line}");
    }
}
