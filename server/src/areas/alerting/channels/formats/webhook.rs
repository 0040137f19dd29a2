//! Events to an HTTP endpoint of the user, in the form and with the signature of Standard Webhooks
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).
//!
//! The body depends only on the notification: a repeated request has the same id and body, and a
//! new timestamp and signature.

use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use telltale_engine::TimestampMs;

use super::labels::{self, LabelLimits};
use super::outbound_parts::OutboundParts;
use super::{cut, receiver_key};
use crate::areas::alerting::channels::config::{UserHeader, WebhookConfig};
use crate::areas::alerting::channels::signature;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::{Notice, NoticeAlert};
use crate::platform::time;

/// The body has fewer bytes: receivers need not accept more (section "Payload structure").
const BODY_BYTES_END: usize = 20_000;
/// Code units of a deduplication key.
const KEY_UNITS: usize = 255;
/// What is repeated of a notification: the first entry with which the body fits. With the last one
/// it always does.
const DETAIL_LEVELS: [Detail; 4] = [
    Detail { alerts: limits::NOTICE_ALERTS_MAX, labels: LabelLimits { count: 32, units: 1_000 } },
    Detail { alerts: limits::NOTICE_ALERTS_MAX, labels: LabelLimits { count: 32, units: 100 } },
    Detail { alerts: limits::NOTICE_ALERTS_MAX, labels: LabelLimits { count: 4, units: 50 } },
    Detail { alerts: 1, labels: LabelLimits { count: 4, units: 50 } },
];

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// How much of a notification is repeated.
#[derive(Clone, Copy, Debug)]
struct Detail {
    alerts: usize,
    /// The units also apply to all other strings.
    labels: LabelLimits,
}

/// Returns the request with a notification, signed at `now`. All attempts to deliver it have the
/// same `message_id`, which is visible ASCII.
pub fn request(
    config: &WebhookConfig,
    message_id: &str,
    notice: &Notice,
    now: TimestampMs,
) -> OutboundParts {
    let url = config.webhook_url.reveal().to_owned();
    let mut request = OutboundParts::post_bytes(url, body(notice));
    request.headers.extend(config.headers.iter().map(UserHeader::to_http));
    let unix_seconds = now.0.div_euclid(1_000);
    let secrets = config.secrets(now);
    let signatures = signature::signatures(&secrets, message_id, unix_seconds, &request.body);
    for (name, value) in
        [(ID, message_id), (TIMESTAMP, &unix_seconds.to_string()), (SIGNATURE, &signatures)]
    {
        match HeaderValue::from_str(value) {
            Ok(value) => request.headers.push((name, value)),
            Err(error) => panic!("ids and signatures are visible ASCII: {error}"),
        }
    }
    request
}

fn body(notice: &Notice) -> Vec<u8> {
    let mut encoded = Vec::new();
    for detail in DETAIL_LEVELS {
        encoded = event(notice, detail).to_string().into_bytes();
        if encoded.len() < BODY_BYTES_END {
            break;
        }
    }
    encoded
}

fn event(notice: &Notice, detail: Detail) -> Value {
    let cut = |text: &str| cut::plain(text, detail.labels.units);
    let described = notice.described().iter().take(detail.alerts);
    let alerts: Vec<Value> = described.map(|alert| alert_data(notice, alert, detail)).collect();
    json!({
        "type": format!("alert.{}", notice.kind.as_str()),
        "timestamp": time::format(notice.sent_at),
        "data": {
            "rule": {
                "id": notice.rule_id,
                "name": cut(&notice.rule_name),
                "severity": notice.severity.as_str(),
                "condition": cut(&notice.condition),
            },
            "alerts": alerts,
            "total": notice.total(),
            "cycle": notice.cycle,
        },
    })
}

fn alert_data(notice: &Notice, alert: &NoticeAlert, detail: Detail) -> Value {
    let cut = |text: &str| cut::plain(text, detail.labels.units);
    json!({
        "id": alert.id,
        "dedup_key": receiver_key::within(&alert.dedup_key, KEY_UNITS),
        "labels": labels::object(&alert.labels, detail.labels),
        "value": labels::number(alert.value),
        "threshold": labels::number(alert.threshold),
        "since": time::format(alert.since),
        "ended_at": alert.ended_at.map(time::format),
        "by": alert.by.as_deref().map(cut),
        "summary": alert.summary.as_deref().map(cut),
        "url": notice.link(alert),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::channels::signature::SigningSecret;
    use crate::areas::alerting::notice::NoticeKind;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing, resolved};

    const NOW: TimestampMs = TimestampMs(1_767_323_105_999);

    fn config() -> WebhookConfig {
        let headers = [("X-Token", "0123456789abcdef"), ("Authorization", "Bearer x")];
        examples::webhook("https://a.example/hook?x=1", &headers)
    }

    #[test]
    fn a_notification_is_an_event() {
        let request = request(&config(), "msg_1", &resolved(), NOW);
        assert_eq!(
            (request.method.as_str(), request.url.as_str()),
            ("POST", "https://a.example/hook?x=1")
        );
        let expected = json!({
            "type": "alert.resolved",
            "timestamp": "2026-01-02T03:05:05.678Z",
            "data": {
                "rule": {
                    "id": "rule_1",
                    "name": "CPU high",
                    "severity": "critical",
                    "condition": "avg of cpu.usage > 90 over 5m",
                },
                "alerts": [{
                    "id": "alert_1",
                    "dedup_key": "key-1",
                    "labels": { "host": "web-1", "region": "eu" },
                    "value": 85,
                    "threshold": 90,
                    "since": "2026-01-02T03:04:05.678Z",
                    "ended_at": "2026-01-02T03:05:05.678Z",
                    "by": null,
                    "summary": null,
                    "url": "https://telltale.example/api/v1/alerts/alert_1",
                }],
                "total": 1,
                "cycle": 0,
            },
        });
        assert_eq!(request.json(), expected);
        for (kind, name) in [
            (NoticeKind::Firing, "alert.firing"),
            (NoticeKind::Acknowledged, "alert.acknowledged"),
            (NoticeKind::Flapping, "alert.flapping"),
            (NoticeKind::Settled, "alert.settled"),
            (NoticeKind::Test, "alert.test"),
        ] {
            let body = super::request(&config(), "msg_1", &Notice { kind, ..firing() }, NOW).json();
            assert_eq!(body["type"], name);
        }
    }

    #[test]
    fn requests_have_the_headers_of_the_user_and_a_signature() {
        let request = request(&config(), "msg_1", &firing(), NOW);
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "content-type",
            "authorization",
            "x-token",
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature",
        ];
        assert_eq!(names, expected);
        assert_eq!(request.header("x-token"), Some("0123456789abcdef"));
        assert_eq!(request.header("webhook-id"), Some("msg_1"));
        assert_eq!(request.header("webhook-timestamp"), Some("1767323105"));
        let secret = &config().signing_secret;
        let signature = signature::signatures(&[secret], "msg_1", 1_767_323_105, &request.body);
        assert_eq!(request.header("webhook-signature"), Some(signature.as_str()));
    }

    #[test]
    fn attempts_differ_in_time_and_signature_only() {
        let first = request(&config(), "msg_1", &firing(), NOW);
        let second = request(&config(), "msg_1", &firing(), TimestampMs(NOW.0 + 30_000));
        assert_eq!(first.body, second.body);
        assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
        assert_eq!(second.header("webhook-timestamp"), Some("1767323135"));
        assert_ne!(first.header("webhook-signature"), second.header("webhook-signature"));
    }

    #[test]
    fn a_rotated_secret_signs_until_its_end() {
        let mut config = config();
        config.rotate(SigningSecret::from_random([9; 32]), TimestampMs(NOW.0 + 1));
        for (now, count) in [(NOW, 2), (TimestampMs(NOW.0 + 1), 1)] {
            let request = request(&config, "msg_1", &firing(), now);
            let signatures = request.header("webhook-signature").unwrap();
            assert_eq!(signatures.split(' ').count(), count, "{signatures}");
            assert!(signatures.split(' ').all(|signature| signature.starts_with("v1,")));
        }
    }

    #[test]
    fn a_large_notification_repeats_less() {
        let labels = |chars: usize| vec![("k".to_owned(), "v".repeat(chars)); 1];
        for (alerts, chars, described, kept) in [
            (1, 900, 1, 900),
            (1, 1_000, 1, 1_000),
            (1, 1_001, 1, 1_000),
            (10, 500, 10, 500),
            (10, 3_000, 10, 1_000),
        ] {
            let alert = |number| NoticeAlert { labels: labels(chars), ..alert(number) };
            let notice =
                Notice { alerts: (0..alerts).map(alert).collect(), total: alerts, ..firing() };
            let request = request(&config(), "msg_1", &notice, NOW);
            let data = request.json()["data"].take();
            assert_eq!(data["alerts"].as_array().unwrap().len(), described);
            let value = data["alerts"][0]["labels"]["k"].as_str().unwrap();
            assert_eq!(value.chars().count(), kept, "{alerts} {chars}");
        }
    }

    #[test]
    fn the_limit_is_used_and_kept() {
        let (mut largest, mut smallest) = (0, usize::MAX);
        for chars in 700..900 {
            let labels: Vec<(String, String)> =
                ["a", "b"].map(|key| (key.to_owned(), "v".repeat(chars))).into();
            let alert = |number| NoticeAlert { labels: labels.clone(), ..alert(number) };
            let notice = Notice { alerts: (0..10).map(alert).collect(), total: 10, ..firing() };
            let bytes = request(&config(), "msg_1", &notice, NOW).body.len();
            assert!(bytes < 20_000, "{chars}: {bytes}");
            (largest, smallest) = (largest.max(bytes), smallest.min(bytes));
        }
        assert!(largest > 19_970 && smallest < 10_000, "{largest} {smallest}");
    }

    #[test]
    fn extreme_notices_stay_within_the_limit() {
        let bases = [None, Some(format!("https://{}.example", "a".repeat(450)))];
        for notice in extreme() {
            for base_url in bases.clone() {
                let request =
                    request(&config(), "msg_1", &Notice { base_url, ..notice.clone() }, NOW);
                let body = request.json();
                assert!((2_000..20_000).contains(&request.body.len()), "{}", request.body.len());
                assert_eq!(body["data"]["total"], 10_000);
                let alerts = body["data"]["alerts"].as_array().unwrap();
                assert!((1..=10).contains(&alerts.len()));
                assert!(alerts.iter().all(|alert| alert["labels"].as_object().unwrap().len() >= 4));
            }
        }
    }
}
