//! Events to a paging service with the Events API v2 of PagerDuty: an alert is triggered,
//! acknowledged and resolved under one deduplication key
//! (<https://developer.pagerduty.com/docs/events-api-v2-overview>).

use serde_json::{Value, json};

use super::labels::{self, LabelLimits};
use super::outbound_parts::OutboundParts;
use super::{cut, receiver_key};
use crate::areas::alerting::channels::config::{BaseUrl, PagingAConfig};
use crate::areas::alerting::notice::{Notice, NoticeAlert, NoticeKind};
use crate::platform::time;

/// The address of the service, unless another one is configured.
pub const DEFAULT_BASE: &str = "https://events.pagerduty.com";
/// Code units of the deduplication key, part of the interface.
const KEY_UNITS: usize = 255;
/// Code units of the summary, part of the interface.
const SUMMARY_UNITS: usize = 1_024;
/// Code units of the other strings. The body may have 512 KB: these limits keep it below 300.
const STRING_UNITS: usize = 1_000;
/// Labels in the details: those that a series can have.
const LABELS: LabelLimits = LabelLimits { count: 32, units: STRING_UNITS };
/// Labels that name the affected system, the best one first.
const SOURCE_LABELS: [&str; 4] = ["host", "instance", "hostname", "service"];

/// Returns the request about one alert of a notification.
pub fn request(
    config: &PagingAConfig,
    base: &BaseUrl,
    notice: &Notice,
    alert: &NoticeAlert,
) -> OutboundParts {
    let action = match notice.kind {
        NoticeKind::Acknowledged => "acknowledge",
        NoticeKind::Resolved => "resolve",
        NoticeKind::Settled if alert.ended_at.is_some() => "resolve",
        NoticeKind::Firing | NoticeKind::Flapping | NoticeKind::Settled | NoticeKind::Test => {
            "trigger"
        }
    };
    let mut event = json!({
        "routing_key": config.routing_key.reveal(),
        "event_action": action,
        "dedup_key": receiver_key::within(&alert.dedup_key, KEY_UNITS),
    });
    if let (true, Some(event)) = (action == "trigger", event.as_object_mut()) {
        event.insert("payload".to_owned(), payload(notice, alert));
        event.insert("client".to_owned(), json!("Telltale"));
        if let Some(link) = notice.link(alert) {
            event.insert("client_url".to_owned(), json!(link));
            event.insert("links".to_owned(), json!([{ "href": link, "text": "Alert" }]));
        }
    }
    OutboundParts::post(base.join("/v2/enqueue"), &event)
}

fn payload(notice: &Notice, alert: &NoticeAlert) -> Value {
    let cut = |text: &str| cut::plain(text, STRING_UNITS);
    let condition = cut(&notice.condition());
    json!({
        "summary": cut::plain(&notice.alert_title(alert), SUMMARY_UNITS),
        "source": cut(source(notice, alert)),
        // The names of severities are those of the service.
        "severity": notice.severity.as_str(),
        "timestamp": time::format(alert.since),
        "class": condition,
        "custom_details": {
            "rule": cut(&notice.rule_name),
            "condition": condition,
            "state": cut(&notice.line(alert)),
            "summary": alert.summary.as_deref().map(cut),
            "labels": labels::object(&alert.labels, LABELS),
            "value": labels::number(alert.value),
            "threshold": labels::number(alert.threshold),
            "cycle": notice.cycle,
        },
    })
}

/// Returns the affected system: the value of a label that names one, else the rule.
fn source<'a>(notice: &'a Notice, alert: &'a NoticeAlert) -> &'a str {
    let value = |name: &str| {
        let label = alert.labels.iter().find(|(key, value)| key == name && !value.is_empty());
        label.map(|(_, value)| value.as_str())
    };
    SOURCE_LABELS.into_iter().find_map(value).unwrap_or(&notice.rule_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::notice::Severity;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing, resolved};

    /// The limit of the service.
    const BODY_BYTES: usize = 512_000;

    fn config() -> PagingAConfig {
        examples::paging_a(&"k".repeat(32))
    }

    fn sent(notice: &Notice, alert: &NoticeAlert) -> Value {
        request(&config(), &BaseUrl::parse(DEFAULT_BASE).unwrap(), notice, alert).json()
    }

    #[test]
    fn a_firing_alert_triggers() {
        let notice = firing();
        let request =
            request(&config(), &BaseUrl::parse(DEFAULT_BASE).unwrap(), &notice, &notice.alerts[0]);
        assert_eq!(request.url, "https://events.pagerduty.com/v2/enqueue");
        let link = "https://telltale.example/api/v1/alerts/alert_1";
        let expected = json!({
            "routing_key": "k".repeat(32),
            "event_action": "trigger",
            "dedup_key": "key-1",
            "client": "Telltale",
            "client_url": link,
            "links": [{ "href": link, "text": "Alert" }],
            "payload": {
                "summary": "[critical] CPU high: host=web-1,region=eu",
                "source": "web-1",
                "severity": "critical",
                "timestamp": "2026-01-02T03:04:05.678Z",
                "class": "avg of cpu.usage > 90 over 5m",
                "custom_details": {
                    "rule": "CPU high",
                    "condition": "avg of cpu.usage > 90 over 5m",
                    "state": "host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z",
                    "summary": null,
                    "labels": { "host": "web-1", "region": "eu" },
                    "value": 97.3,
                    "threshold": 90,
                    "cycle": 0,
                },
            },
        });
        assert_eq!(request.json(), expected);
    }

    #[test]
    fn later_events_have_the_same_key_and_no_payload() {
        let ended = resolved().alerts[0].clone();
        for (kind, alert, action) in [
            (NoticeKind::Firing, alert(1), "trigger"),
            (NoticeKind::Flapping, alert(1), "trigger"),
            (NoticeKind::Settled, alert(1), "trigger"),
            (NoticeKind::Test, alert(1), "trigger"),
            (NoticeKind::Acknowledged, alert(1), "acknowledge"),
            (NoticeKind::Resolved, ended.clone(), "resolve"),
            (NoticeKind::Settled, ended, "resolve"),
        ] {
            let event = sent(&Notice { kind, ..firing() }, &alert);
            assert_eq!(event["event_action"], action, "{kind:?}");
            assert_eq!(event["dedup_key"], "key-1");
            assert_eq!(event["routing_key"], "k".repeat(32));
            assert_eq!(event.get("payload").is_some(), action == "trigger");
        }
    }

    #[test]
    fn severities_and_sources_are_mapped() {
        for severity in [Severity::Info, Severity::Warning, Severity::Critical] {
            let event = sent(&Notice { severity, ..firing() }, &alert(1));
            assert_eq!(event["payload"]["severity"], severity.as_str());
        }
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        for (labels, expected) in [
            (vec![], "CPU high"),
            (vec![label("region", "eu")], "CPU high"),
            (vec![label("host", ""), label("service", "api")], "api"),
            (vec![label("service", "api"), label("host", "a")], "a"),
        ] {
            let event = sent(&firing(), &NoticeAlert { labels, ..alert(1) });
            assert_eq!(event["payload"]["source"], expected);
        }
    }

    #[test]
    fn absent_data_has_no_value() {
        let absent = NoticeAlert { value: None, threshold: None, ..alert(1) };
        let event = sent(&Notice { comparison: None, ..firing() }, &absent);
        let details = &event["payload"]["custom_details"];
        assert_eq!((&details["value"], &details["threshold"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn extreme_notices_stay_within_the_limits() {
        let base = BaseUrl::parse(DEFAULT_BASE).unwrap();
        for notice in extreme() {
            for alert in &notice.alerts {
                let request = request(&config(), &base, &notice, alert);
                assert!(request.body.len() <= BODY_BYTES, "{}", request.body.len());
                let event = request.json();
                let units = |value: &Value| cut::units(value.as_str().unwrap());
                assert!((1..=255).contains(&units(&event["dedup_key"])));
                if event["event_action"] == "trigger" {
                    assert!((1_000..=1_024).contains(&units(&event["payload"]["summary"])));
                    assert!((1..=1_024).contains(&units(&event["payload"]["source"])));
                }
            }
        }
    }
}
