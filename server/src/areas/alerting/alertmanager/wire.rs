//! The JSON of Alertmanager's API.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use super::posted::{AlertParts, InvalidAlert, PostedAlert};
use super::shown::{AlertState, ShownAlert};
use crate::platform::bounded::{AtMost, FirstMembers};
use crate::platform::json::{invalid_syntax, read_typed};
use crate::platform::time::{self, IsoTime};

/// Alerts of a body: Prometheus sends 256 at most, other senders all they have.
const ALERTS_MAX: usize = 10_000;
/// Members of a label set that are read. A set that has as many is refused, because it may have
/// more: four times the limit of labels, because those without a value do not count for it.
const MEMBERS_READ_MAX: usize = 256;
/// Errors of a body that are reported; the others are counted.
const ERRORS_SHOWN_MAX: usize = 50;
/// 0001-01-01T00:00:00Z in milliseconds, with which Go programs write that there is no time.
const ZERO_TIME_MS: i64 = -62_135_596_800_000;
/// The version of Alertmanager whose API this is. Clients choose their requests by it.
const ALERTMANAGER_VERSION: &str = "0.28.0";

/// An alert as it is sent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostableAlert {
    #[schemars(with = "BTreeMap<String, String>")]
    labels: Option<FirstMembers<String, MEMBERS_READ_MAX>>,
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    annotations: Option<FirstMembers<String, MEMBERS_READ_MAX>>,
    /// Defaults to now.
    starts_at: Option<String>,
    /// Defaults to the end of the resolve timeout.
    ends_at: Option<String>,
    #[serde(rename = "generatorURL")]
    generator_url: Option<String>,
}

/// The alerts of a body: valid ones, and what is wrong with the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostedBody {
    /// The valid alerts, in the order sent.
    pub alerts: Vec<PostedAlert>,
    /// The positions of the others, and why they are refused.
    pub refused: Vec<(usize, InvalidAlert)>,
}

/// An alert as it is listed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GettableAlert {
    annotations: BTreeMap<String, String>,
    ends_at: IsoTime,
    /// The hash of the labels, 16 hexadecimal digits.
    fingerprint: String,
    receivers: Vec<Receiver>,
    starts_at: IsoTime,
    status: AlertStatus,
    updated_at: IsoTime,
    #[serde(rename = "generatorURL", skip_serializing_if = "String::is_empty")]
    generator_url: String,
    labels: BTreeMap<String, String>,
}

/// Who is notified.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertmanagerReceiver")]
struct Receiver {
    name: String,
}

/// The state of an alert and its reasons.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AlertmanagerAlertStatus")]
struct AlertStatus {
    inhibited_by: Vec<String>,
    muted_by: Vec<String>,
    silenced_by: Vec<String>,
    state: StateWord,
}

/// A state as it is written.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AlertmanagerAlertState")]
enum StateWord {
    Unprocessed,
    Active,
    Suppressed,
}

/// The status of the server, as Alertmanager reports it without a cluster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertmanagerStatus {
    cluster: ClusterStatus,
    config: ConfigText,
    /// When the server started.
    uptime: IsoTime,
    version_info: VersionInfo,
}

/// The status of the cluster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertmanagerCluster")]
struct ClusterStatus {
    #[schemars(with = "Vec<String>")]
    peers: [String; 0],
    /// Always `disabled`: there is no cluster.
    status: &'static str,
}

/// The configuration.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertmanagerConfig")]
struct ConfigText {
    /// The configuration as YAML.
    original: String,
}

/// What the server was built from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AlertmanagerVersion")]
struct VersionInfo {
    branch: &'static str,
    build_date: &'static str,
    build_user: &'static str,
    go_version: &'static str,
    /// The version of this server.
    revision: String,
    /// The version of Alertmanager whose API this is.
    version: &'static str,
}

/// Parses a body of alerts. Fails if it is not an array of objects of this form, or has too many;
/// the error is a sentence for the sender.
pub fn postable_alerts(body: &[u8]) -> Result<Vec<PostableAlert>, String> {
    let read = serde_json::from_slice::<AtMost<PostableAlert, ALERTS_MAX>>(body);
    let list = read.map_err(|error| {
        let misfit = || read_typed::<AtMost<PostableAlert, ALERTS_MAX>>(body).err();
        match if error.is_data() { misfit() } else { None } {
            Some(misfit) => misfit.sentence("the body"),
            None => invalid_syntax(&error).to_string(),
        }
    })?;
    list.all().map_err(|sent| format!("the body has {sent} alerts, more than {ALERTS_MAX}"))
}

impl PostedBody {
    /// Checks the alerts of a body that arrives now. See [`PostedAlert::new`].
    pub fn new(sent: Vec<PostableAlert>, now: TimestampMs, resolve_timeout_ms: i64) -> Self {
        let mut body = Self::default();
        for (position, alert) in sent.into_iter().enumerate() {
            let parts = alert.into_parts();
            match parts.and_then(|parts| PostedAlert::new(parts, now, resolve_timeout_ms)) {
                Ok(alert) => body.alerts.push(alert),
                Err(invalid) => body.refused.push((position, invalid)),
            }
        }
        body
    }

    /// Returns the text for the sender if alerts are refused: their errors, separated as
    /// Alertmanager does, each with the position of the alert.
    pub fn refusal(&self) -> Option<String> {
        let errors = self.refused.iter().take(ERRORS_SHOWN_MAX);
        let mut errors: Vec<String> =
            errors.map(|(position, error)| format!("alerts[{position}]: {error}")).collect();
        match self.refused.len().saturating_sub(ERRORS_SHOWN_MAX) {
            0 => {}
            more => errors.push(format!("and {more} more")),
        }
        (!errors.is_empty()).then(|| errors.join("; "))
    }
}

impl PostableAlert {
    fn into_parts(self) -> Result<AlertParts, InvalidAlert> {
        let labels = members(self.labels).map_err(InvalidAlert::Labels)?;
        let annotations = members(self.annotations).map_err(InvalidAlert::Annotations)?;
        Ok(AlertParts {
            labels,
            annotations,
            starts_at: optional_time("startsAt", self.starts_at)?,
            ends_at: optional_time("endsAt", self.ends_at)?,
            generator_url: self.generator_url.unwrap_or_default(),
        })
    }
}

/// Returns the members of a set. Fails if not all of them were read.
fn members(
    set: Option<FirstMembers<String, MEMBERS_READ_MAX>>,
) -> Result<BTreeMap<String, String>, String> {
    let Some(FirstMembers(members)) = set else { return Ok(BTreeMap::new()) };
    if members.len() < MEMBERS_READ_MAX {
        Ok(members)
    } else {
        Err(format!("{MEMBERS_READ_MAX} names or more"))
    }
}

/// Parses a time. The zero time of Go and an empty string mean that there is none.
fn optional_time(
    field: &'static str,
    text: Option<String>,
) -> Result<Option<TimestampMs>, InvalidAlert> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let time = time::parse(&text).ok_or(InvalidAlert::Time(field))?;
    Ok(Some(time).filter(|time| time.0 != ZERO_TIME_MS))
}

/// Returns the list of alerts, sorted by fingerprint as Alertmanager sorts it.
pub fn gettable_alerts(alerts: impl IntoIterator<Item = ShownAlert>) -> Vec<GettableAlert> {
    let mut list: Vec<GettableAlert> = alerts.into_iter().map(GettableAlert::from).collect();
    list.sort_by(|a, b| a.fingerprint.cmp(&b.fingerprint));
    list
}

impl From<ShownAlert> for GettableAlert {
    fn from(alert: ShownAlert) -> Self {
        Self {
            fingerprint: alert.fingerprint().to_string(),
            annotations: alert.annotations,
            ends_at: IsoTime(alert.ends_at),
            receivers: alert.receivers.into_iter().map(|name| Receiver { name }).collect(),
            starts_at: IsoTime(alert.starts_at),
            status: AlertStatus {
                inhibited_by: alert.inhibited_by,
                muted_by: alert.muted_by,
                silenced_by: alert.silenced_by,
                state: match alert.state {
                    AlertState::Unprocessed => StateWord::Unprocessed,
                    AlertState::Active => StateWord::Active,
                    AlertState::Suppressed => StateWord::Suppressed,
                },
            },
            updated_at: IsoTime(alert.updated_at),
            generator_url: alert.generator_url,
            labels: alert.labels,
        }
    }
}

impl AlertmanagerStatus {
    /// Returns the status of a server of this version, which started at `started_at`. `config` is
    /// shown as the configuration, which clients expect to be YAML.
    pub fn new(version: &str, started_at: TimestampMs, config: String) -> Self {
        Self {
            cluster: ClusterStatus { peers: [], status: "disabled" },
            config: ConfigText { original: config },
            uptime: IsoTime(started_at),
            version_info: VersionInfo {
                branch: "",
                build_date: "",
                build_user: "",
                go_version: "",
                revision: format!("telltale {version}"),
                version: ALERTMANAGER_VERSION,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::AlertEnd;
    use super::*;

    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);
    const TIMEOUT_MS: i64 = 300_000;

    fn posted(body: &str) -> PostedBody {
        PostedBody::new(postable_alerts(body.as_bytes()).unwrap(), NOW, TIMEOUT_MS)
    }

    #[test]
    fn bodies_of_prometheus_are_read() {
        // As sent by Prometheus 2.53 and 3.5 for a firing and a resolved alert.
        let body = r#"[
            {"annotations":{"summary":"a \u003e b"},"endsAt":"2026-01-02T03:08:05.000Z",
             "startsAt":"2026-01-02T03:03:05.123Z","generatorURL":"http://prom:9090/graph?g0.expr=up",
             "labels":{"alertname":"Down","instance":"a:9100","service.name":"web"}},
            {"annotations":{},"endsAt":"0001-01-01T00:00:00.000Z","startsAt":"2026-01-02T03:03:05.123456789+01:00",
             "generatorURL":"","labels":{"alertname":"Up","empty":""},"status":"new field"}]"#;
        let PostedBody { alerts, refused } = posted(body);
        assert_eq!(refused, []);
        let [firing, other] = alerts.as_slice() else { panic!("{alerts:?}") };
        assert_eq!(firing.labels().len(), 3);
        assert_eq!(firing.annotations()["summary"], "a > b");
        assert_eq!(time::format(firing.starts_at()), "2026-01-02T03:03:05.123Z");
        let end = time::parse("2026-01-02T03:08:05Z").unwrap();
        assert_eq!(firing.end(), AlertEnd::Sent(end));
        assert_eq!(firing.generator_url(), "http://prom:9090/graph?g0.expr=up");
        assert_eq!(other.labels().len(), 1);
        assert_eq!(time::format(other.starts_at()), "2026-01-02T02:03:05.123Z");
        assert_eq!(other.end(), AlertEnd::Assumed(TimestampMs(NOW.0 + TIMEOUT_MS)));
    }

    #[test]
    fn absent_times_and_fields_have_many_forms() {
        for fields in [
            "",
            r#","startsAt":null,"endsAt":null,"annotations":null,"generatorURL":null"#,
            r#","startsAt":"","endsAt":"""#,
            r#","startsAt":"0001-01-01T00:00:00Z","endsAt":"0001-01-01T00:00:00Z""#,
            r#","startsAt":"0001-01-01T01:00:00+01:00""#,
        ] {
            let body = posted(&format!(r#"[{{"labels":{{"a":"b"}}{fields}}}]"#));
            let [alert] = body.alerts.as_slice() else { panic!("{fields}: {body:?}") };
            assert_eq!(alert.starts_at(), NOW, "{fields}");
            assert_eq!(alert.end(), AlertEnd::Assumed(TimestampMs(NOW.0 + TIMEOUT_MS)));
        }
    }

    #[test]
    fn invalid_alerts_are_reported_and_the_others_kept() {
        let body = posted(
            r#"[{"labels":{"a":"1"}},{"labels":{}},{},{"labels":{"a":"2"},"startsAt":"yesterday"},
                {"labels":{"a":"3"},"startsAt":"2026-01-02T03:04:05Z","endsAt":"2026-01-02T03:04:04Z"}]"#,
        );
        assert_eq!(body.alerts.len(), 1);
        assert_eq!(
            body.refusal().unwrap(),
            "alerts[1]: at least one label pair required; alerts[2]: at least one label pair required; \
             alerts[3]: startsAt is not an RFC 3339 date-time; \
             alerts[4]: start time must be before end time"
        );
        assert_eq!(posted("[]"), PostedBody::default());
        assert_eq!(posted("[]").refusal(), None);
        let many = posted(&format!("[{}{{}}]", "{},".repeat(51))).refusal().unwrap();
        assert!(
            many.ends_with("alerts[49]: at least one label pair required; and 2 more"),
            "{many}"
        );
    }

    #[test]
    fn other_bodies_are_refused_as_a_whole() {
        for (body, expected) in [
            (
                "",
                "the body is not valid JSON: it ends where a value is expected at line 1, column 0",
            ),
            ("{}", "the body must be an array"),
            ("null", "the body must be an array"),
            ("[1]", "[0] must be an object"),
            (r#"[{"labels":{"a":1}}]"#, "[0].labels.a must be a string"),
            (r#"[{"labels":[]}]"#, "[0].labels must be an object"),
            (r#"[{"labels":{},"startsAt":5}]"#, "[0].startsAt must be a string"),
            (
                "[] x",
                "the body is not valid JSON: there is more text after the value at line 1, column 4",
            ),
        ] {
            assert_eq!(postable_alerts(body.as_bytes()).unwrap_err(), expected, "{body}");
        }
        let body = |count: usize| format!("[{}{{}}]", "{},".repeat(count - 1));
        assert_eq!(postable_alerts(body(10_000).as_bytes()).unwrap().len(), 10_000);
        let refused = postable_alerts(body(10_001).as_bytes()).unwrap_err();
        assert_eq!(refused, "the body has 10001 alerts, more than 10000");
    }

    #[test]
    fn too_many_labels_are_refused_however_many_are_read() {
        let refusal = |value: &str, count: usize| {
            let labels: Vec<String> = (0..count).map(|n| format!("\"l{n}\":{value}")).collect();
            posted(&format!("[{{\"labels\":{{\"a\":\"b\",{}}}}}]", labels.join(","))).refusal()
        };
        for (value, count, expected) in [
            ("\"v\"", 63, None),
            ("\"v\"", 64, Some("alerts[0]: invalid label set: more than 64 names")),
            ("\"v\"", 254, Some("alerts[0]: invalid label set: more than 64 names")),
            ("\"v\"", 255, Some("alerts[0]: invalid label set: 256 names or more")),
            ("\"v\"", 9_999, Some("alerts[0]: invalid label set: 256 names or more")),
            ("\"\"", 254, None),
            ("\"\"", 255, Some("alerts[0]: invalid label set: 256 names or more")),
        ] {
            assert_eq!(refusal(value, count).as_deref(), expected, "{count}");
        }
    }

    fn shown(name: &str) -> ShownAlert {
        ShownAlert {
            labels: BTreeMap::from([("alertname".to_owned(), name.to_owned())]),
            annotations: BTreeMap::from([("summary".to_owned(), "slow".to_owned())]),
            starts_at: NOW,
            ends_at: TimestampMs(NOW.0 + 1_000),
            updated_at: NOW,
            generator_url: "http://prom/graph".to_owned(),
            receivers: vec!["ops".to_owned()],
            state: AlertState::Suppressed,
            silenced_by: vec!["win_1".to_owned()],
            inhibited_by: Vec::new(),
            muted_by: Vec::new(),
        }
    }

    #[test]
    fn alerts_are_listed_as_alertmanager_lists_them() {
        let listed = gettable_alerts([shown("HighLatency")]);
        let expected = concat!(
            r#"[{"annotations":{"summary":"slow"},"endsAt":"2026-01-02T03:04:06.678Z","#,
            r#""fingerprint":"73dbeed5635ea4e4","receivers":[{"name":"ops"}],"#,
            r#""startsAt":"2026-01-02T03:04:05.678Z","#,
            r#""status":{"inhibitedBy":[],"mutedBy":[],"silencedBy":["win_1"],"state":"suppressed"},"#,
            r#""updatedAt":"2026-01-02T03:04:05.678Z","generatorURL":"http://prom/graph","#,
            r#""labels":{"alertname":"HighLatency"}}]"#,
        );
        assert_eq!(serde_json::to_string(&listed).unwrap(), expected);

        let bare = ShownAlert { generator_url: String::new(), ..shown("a") };
        let bare = serde_json::to_value(gettable_alerts([bare])).unwrap();
        assert_eq!(bare[0].get("generatorURL"), None);
        let listed = gettable_alerts(["a", "b", "c", "d"].map(shown));
        assert!(listed.is_sorted_by_key(|alert| alert.fingerprint.clone()));
        assert!(!listed.is_sorted_by_key(|alert| alert.labels.clone()), "another order than sent");
    }

    #[test]
    fn the_status_is_that_of_a_server_without_a_cluster() {
        let status = AlertmanagerStatus::new("1.2.3", NOW, "route: {}\n".to_owned());
        let expected = json!({
            "cluster": {"peers": [], "status": "disabled"},
            "config": {"original": "route: {}\n"},
            "uptime": "2026-01-02T03:04:05.678Z",
            "versionInfo": {
                "branch": "", "buildDate": "", "buildUser": "", "goVersion": "",
                "revision": "telltale 1.2.3", "version": "0.28.0",
            },
        });
        assert_eq!(serde_json::to_value(status).unwrap(), expected);
    }
}
