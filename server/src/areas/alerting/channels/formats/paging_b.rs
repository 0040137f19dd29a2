//! Alerts to a paging service with the Alert API of Opsgenie: an alert is created, acknowledged and
//! closed under one alias (<https://docs.opsgenie.com/docs/alert-api>).

use http::header::AUTHORIZATION;
use serde_json::{Map, Value, json};

use super::outbound_parts::OutboundParts;
use super::{cut, receiver_key};
use crate::areas::alerting::channels::config::{BaseUrl, PagingBConfig};
use crate::areas::alerting::notice::{Notice, NoticeAlert, NoticeKind, Severity, number, one_line};
use crate::platform::time;

/// The address of the service, unless another one is configured.
pub const DEFAULT_BASE: &str = "https://api.opsgenie.com";
/// Code units of the message, part of the interface.
const MESSAGE_UNITS: usize = 130;
/// Code units of the alias, part of the interface.
const ALIAS_UNITS: usize = 512;
/// Code units of the description. The interface allows 15 000; the state and the summary need less.
const DESCRIPTION_UNITS: usize = 5_000;
/// Code units of all names and values of the details together, part of the interface.
const DETAILS_UNITS: usize = 8_000;
/// Code units of one value of the details.
const DETAIL_UNITS: usize = 500;
/// Code units of the note of a state change. The interface allows 25 000.
const NOTE_UNITS: usize = 1_000;
/// Code units of the user of a state change, part of the interface.
const USER_UNITS: usize = 100;
/// What the service shows as the origin of an alert.
const SOURCE: &str = "Telltale";

/// Returns the request about one alert of a notification. It is sent to `default_base` unless the
/// channel has an address of its own.
pub fn request(
    config: &PagingBConfig,
    default_base: &BaseUrl,
    notice: &Notice,
    alert: &NoticeAlert,
) -> OutboundParts {
    let base = config.api_url.as_ref().unwrap_or(default_base);
    let change = |verb: &str| {
        let alias = receiver_key::path_segment(&alert.dedup_key, ALIAS_UNITS);
        let url = base.join(&format!("/v2/alerts/{alias}/{verb}?identifierType=alias"));
        OutboundParts::post(url, &state_change(notice, alert))
    };
    let request = match notice.kind {
        NoticeKind::Acknowledged => change("acknowledge"),
        NoticeKind::Resolved => change("close"),
        NoticeKind::Settled if alert.ended_at.is_some() => change("close"),
        NoticeKind::Firing | NoticeKind::Flapping | NoticeKind::Settled | NoticeKind::Test => {
            OutboundParts::post(base.join("/v2/alerts"), &creation(notice, alert))
        }
    };
    let authorization = format!("GenieKey {}", config.api_key.reveal());
    request.with_secret_header(AUTHORIZATION, &authorization)
}

fn creation(notice: &Notice, alert: &NoticeAlert) -> Value {
    json!({
        "message": cut::plain(&notice.alert_title(alert), MESSAGE_UNITS),
        "alias": receiver_key::alias(&alert.dedup_key, ALIAS_UNITS),
        "description": cut::plain(&notice.line(alert), DESCRIPTION_UNITS),
        "tags": ["telltale", notice.severity.as_str()],
        "details": details(notice, alert),
        "priority": priority(notice.severity),
        "source": SOURCE,
    })
}

fn state_change(notice: &Notice, alert: &NoticeAlert) -> Value {
    let mut change = json!({
        "source": SOURCE,
        "note": cut::plain(&notice.line(alert), NOTE_UNITS),
    });
    if let (Some(by), Some(change)) = (&alert.by, change.as_object_mut()) {
        change.insert("user".to_owned(), json!(cut::plain(&one_line(by), USER_UNITS)));
    }
    change
}

/// Returns the properties of the alert, then as many labels as fit.
fn details(notice: &Notice, alert: &NoticeAlert) -> Map<String, Value> {
    let own = [
        ("rule", Some(notice.rule_name.clone())),
        ("condition", Some(notice.condition())),
        ("value", alert.value.map(number)),
        ("threshold", alert.threshold.map(number)),
        ("since", Some(time::format(alert.since))),
        ("link", notice.link(alert)),
    ];
    let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let labels = alert.labels.iter().map(|(key, value)| (format!("label.{key}"), value.clone()));
    let mut details = Map::new();
    let mut used = 0;
    for (name, value) in own.chain(labels) {
        let (name, value) = (cut::plain(&name, DETAIL_UNITS), cut::plain(&value, DETAIL_UNITS));
        used += cut::units(&name) + cut::units(&value);
        if used > DETAILS_UNITS {
            break;
        }
        details.insert(name, Value::String(value));
    }
    details
}

fn priority(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "P1",
        Severity::Warning => "P3",
        Severity::Info => "P5",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing, resolved};

    fn config(api_url: Option<&str>) -> PagingBConfig {
        examples::paging_b("secret-key", api_url)
    }

    fn sent(notice: &Notice, alert: &NoticeAlert) -> OutboundParts {
        request(&config(None), &BaseUrl::parse(DEFAULT_BASE).unwrap(), notice, alert)
    }

    #[test]
    fn a_firing_alert_is_created() {
        let notice = firing();
        let request = sent(&notice, &notice.alerts[0]);
        assert_eq!(request.url, "https://api.opsgenie.com/v2/alerts");
        assert_eq!(request.header("authorization"), Some("GenieKey secret-key"));
        let expected = json!({
            "message": "[critical] CPU high: host=web-1,region=eu",
            "alias": "key-1",
            "description": "host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z",
            "tags": ["telltale", "critical"],
            "details": {
                "rule": "CPU high",
                "condition": "avg of cpu.usage > 90 over 5m",
                "value": "97.3",
                "threshold": "90",
                "since": "2026-01-02T03:04:05.678Z",
                "link": "https://telltale.example/api/v1/alerts/alert_1",
                "label.host": "web-1",
                "label.region": "eu",
            },
            "priority": "P1",
            "source": "Telltale",
        });
        assert_eq!(request.json(), expected);
    }

    #[test]
    fn state_changes_name_the_alias_in_the_path() {
        let base = BaseUrl::parse(DEFAULT_BASE).unwrap();
        let by = Some("ann@example.com".to_owned());
        let acknowledged = Notice { kind: NoticeKind::Acknowledged, ..firing() };
        let settled = Notice { kind: NoticeKind::Settled, ..resolved() };
        let odd = NoticeAlert { dedup_key: "a/b ../".to_owned(), by, ..alert(1) };
        for (notice, alert, path) in [
            (&acknowledged, alert(1), "/v2/alerts/key-1/acknowledge?identifierType=alias"),
            (&acknowledged, odd, "/v2/alerts/a%2Fb%20..%2F/acknowledge?identifierType=alias"),
            (&resolved(), alert(1), "/v2/alerts/key-1/close?identifierType=alias"),
            (&settled, settled.alerts[0].clone(), "/v2/alerts/key-1/close?identifierType=alias"),
            (&settled, alert(1), "/v2/alerts"),
        ] {
            let request = sent(notice, &alert);
            assert_eq!(request.url, base.join(path));
            assert_eq!(request.header("authorization"), Some("GenieKey secret-key"));
            let user = request.json().get("user").cloned();
            assert_eq!(user, alert.by.map(Value::String));
        }
        let notice = firing();
        let own = config(Some("https://api.eu.pager.example/"));
        let request = request(&own, &base, &notice, &notice.alerts[0]);
        assert_eq!(request.url, "https://api.eu.pager.example/v2/alerts");
    }

    #[test]
    fn the_alias_is_the_same_in_the_body_and_in_the_path() {
        let too_long = "k".repeat(513);
        for key in ["key-1", "..", "", "a/b", too_long.as_str()] {
            let alert = NoticeAlert { dedup_key: key.to_owned(), ..alert(1) };
            let created = sent(&firing(), &alert).json();
            let closed = sent(&resolved(), &alert);
            let alias = receiver_key::path_segment(created["alias"].as_str().unwrap(), 512);
            assert_eq!(
                closed.url,
                format!("{DEFAULT_BASE}/v2/alerts/{alias}/close?identifierType=alias")
            );
        }
    }

    #[test]
    fn severities_are_priorities() {
        for (severity, priority) in
            [(Severity::Info, "P5"), (Severity::Warning, "P3"), (Severity::Critical, "P1")]
        {
            let body = sent(&Notice { severity, ..firing() }, &alert(1)).json();
            assert_eq!(body["priority"], priority);
        }
    }

    #[test]
    fn extreme_notices_stay_within_the_limits() {
        for notice in extreme() {
            for alert in &notice.alerts {
                let request = sent(&notice, alert);
                let body = request.json();
                let units = |name: &str| body[name].as_str().map_or(0, cut::units);
                assert!(request.url.len() < 4_000);
                assert!(units("message") <= 130 && units("alias") <= 512);
                assert!(units("description") <= 15_000 && units("note") <= 25_000);
                assert!(units("user") <= 100);
                if let Some(details) = body.get("details") {
                    let pairs = details.as_object().unwrap().iter();
                    let sizes = pairs.map(|(k, v)| cut::units(k) + cut::units(v.as_str().unwrap()));
                    assert!((6_000..=8_000).contains(&sizes.sum::<usize>()));
                    assert!(units("message") > 120, "the limit is used");
                }
            }
        }
    }
}
