//! What the response of a receiver means: delivered, to be tried again, or failed for good.
//!
//! A reason is shown to users and logged. It consists of fixed text, the status, and error codes of
//! a fixed list: the body of a response may contain what only the server can reach.

use std::time::Duration;

use chrono::NaiveDateTime;
use http::HeaderMap;
use http::header::RETRY_AFTER;
use serde_json::Value;
use telltale_engine::TimestampMs;

use super::config::ChannelType;
use crate::areas::alerting::limits;

/// The body with which a chat of type A confirms a message.
const CHAT_A_OK: &[u8] = b"ok";

/// Error codes in the bodies of chats of type A, and whether the webhook is gone for good.
const CHAT_A_CODES: [(&str, bool); 15] = [
    ("action_prohibited", false),
    ("channel_is_archived", true),
    ("channel_not_found", true),
    ("invalid_blocks", false),
    ("invalid_payload", false),
    ("invalid_token", true),
    ("no_active_hooks", true),
    ("no_service", true),
    ("no_text", false),
    ("posting_to_general_channel_denied", false),
    ("rate_limited", false),
    ("rollup_error", false),
    ("team_disabled", true),
    ("too_many_attachments", false),
    ("user_not_found", true),
];

/// Error codes in the bodies of chats of type B.
const CHAT_B_CODES: [(u64, &str); 5] = [
    (10_003, "unknown channel"),
    (10_015, "unknown webhook"),
    (50_006, "empty message"),
    (50_027, "invalid webhook token"),
    (50_035, "invalid form body"),
];

/// The forms of a date in HTTP (RFC 9110, section 5.6.7), the preferred one first.
const HTTP_DATES: [&str; 3] =
    ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// What a response means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has the message.
    Delivered,
    /// The same request may succeed later.
    Retry {
        /// The time that the receiver asks to wait, at most
        /// `limits::RECEIVER_RETRY_AFTER_SECONDS_MAX`.
        after: Option<Duration>,
        /// Safe to show.
        reason: String,
    },
    /// The same request will not succeed.
    Failed {
        /// Safe to show.
        reason: String,
        /// Whether no request to this receiver will ever succeed, so that the channel is disabled.
        disables: bool,
    },
}

/// Returns what a response means. `status` is the HTTP status, or the reply code of the SMTP server
/// for [`ChannelType::Email`]; `body` may be cut.
pub fn judge(
    channel_type: ChannelType,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    now: TimestampMs,
) -> Outcome {
    match channel_type {
        ChannelType::Email => judge_smtp(status),
        _ if is_temporary(status) => {
            let after = retry_after(channel_type, headers, body, now);
            Outcome::Retry { after, reason: reason(channel_type, status, body) }
        }
        _ if is_delivered(channel_type, status, body) => Outcome::Delivered,
        _ => Outcome::Failed {
            reason: reason(channel_type, status, body),
            disables: disables(channel_type, status, body),
        },
    }
}

fn judge_smtp(code: u16) -> Outcome {
    let reason = format!("SMTP {code} from the mail server");
    match code {
        200..=299 => Outcome::Delivered,
        400..=499 => Outcome::Retry { after: None, reason },
        _ => Outcome::Failed { reason, disables: false },
    }
}

fn is_temporary(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

fn is_delivered(channel_type: ChannelType, status: u16, body: &[u8]) -> bool {
    match channel_type {
        ChannelType::TeamChatA => status == 200 && body.trim_ascii() == CHAT_A_OK,
        _ => (200..=299).contains(&status),
    }
}

fn disables(channel_type: ChannelType, status: u16, body: &[u8]) -> bool {
    match channel_type {
        ChannelType::TeamChatA => chat_a_code(body).is_some_and(|(_, is_gone)| is_gone),
        ChannelType::TeamChatB => status == 404,
        ChannelType::Webhook => status == 410,
        ChannelType::TeamChatC
        | ChannelType::PagingA
        | ChannelType::PagingB
        | ChannelType::Email => false,
    }
}

fn reason(channel_type: ChannelType, status: u16, body: &[u8]) -> String {
    let code = match channel_type {
        ChannelType::TeamChatA => chat_a_code(body).map(|(code, _)| code),
        ChannelType::TeamChatB => chat_b_code(body),
        _ => None,
    };
    let hint = match (code, status) {
        (Some(code), _) => code,
        (None, 200..=299) => "the response does not confirm the message",
        (None, 300..=399) => "redirects are not followed",
        (None, 401 | 403) => "the credentials were refused",
        (None, 404 | 410) => "the address does not exist",
        (None, 413) => "the message is too large",
        (None, 429) => "too many requests",
        _ => return format!("HTTP {status} from the receiver"),
    };
    format!("HTTP {status} from the receiver: {hint}")
}

/// Returns the known error code in the body of a chat of type A, and whether its webhook is gone.
fn chat_a_code(body: &[u8]) -> Option<(&'static str, bool)> {
    let body = body.trim_ascii();
    CHAT_A_CODES.into_iter().find(|(code, _)| code.as_bytes() == body)
}

/// Returns the meaning of the known error code in the body of a chat of type B.
fn chat_b_code(body: &[u8]) -> Option<&'static str> {
    let code = json_member(body, "code")?.as_u64()?;
    CHAT_B_CODES.into_iter().find(|(known, _)| *known == code).map(|(_, meaning)| meaning)
}

/// Returns the time that the receiver asks to wait: the longer of those in the header and, for a
/// chat of type B, in the body.
fn retry_after(
    channel_type: ChannelType,
    headers: &HeaderMap,
    body: &[u8],
    now: TimestampMs,
) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let in_header = text.and_then(|text| wait(text.trim(), now));
    let in_body = match channel_type {
        ChannelType::TeamChatB => json_member(body, "retry_after")
            .and_then(|seconds| seconds.as_f64())
            .filter(|seconds| *seconds >= 0.0)
            .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        _ => None,
    };
    let max = Duration::from_secs(limits::RECEIVER_RETRY_AFTER_SECONDS_MAX);
    in_header.max(in_body).map(|wait| wait.min(max))
}

/// Parses `Retry-After`: seconds, or a date, which may have passed.
fn wait(text: &str, now: TimestampMs) -> Option<Duration> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // Digits fail to parse only if there are too many.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let parse = |form: &&str| NaiveDateTime::parse_from_str(text, form).ok();
    let date = HTTP_DATES.iter().find_map(parse)?;
    let until_ms = date.and_utc().timestamp_millis();
    let wait_ms = until_ms.saturating_sub(now.0).max(0);
    Some(Duration::from_millis(wait_ms.unsigned_abs()))
}

/// Returns a member of the object in the body, if the body is one.
fn json_member(body: &[u8], name: &str) -> Option<Value> {
    let mut body: Value = serde_json::from_slice(body).ok()?;
    body.get_mut(name).map(Value::take)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1994-11-06T08:49:07Z: 30 s before the dates of the tests.
    const NOW: TimestampMs = TimestampMs(784_111_747_000);

    fn judged(channel_type: ChannelType, status: u16, body: &str) -> Outcome {
        judge(channel_type, status, &HeaderMap::new(), body.as_bytes(), NOW)
    }

    fn failed(reason: &str, disables: bool) -> Outcome {
        Outcome::Failed { reason: reason.to_owned(), disables }
    }

    const HTTP_TYPES: [ChannelType; 6] = [
        ChannelType::TeamChatA,
        ChannelType::TeamChatB,
        ChannelType::TeamChatC,
        ChannelType::PagingA,
        ChannelType::PagingB,
        ChannelType::Webhook,
    ];

    #[test]
    fn only_some_statuses_are_tried_again() {
        for channel_type in HTTP_TYPES {
            for status in 100..=999 {
                let is_retry = matches!(judged(channel_type, status, "{}"), Outcome::Retry { .. });
                let expected = [408, 425, 429].contains(&status) || (500..600).contains(&status);
                assert_eq!(is_retry, expected, "{channel_type:?} {status}");
            }
        }
    }

    #[test]
    fn success_is_a_2xx_status_and_for_a_chat_of_type_a_also_the_body() {
        for (channel_type, status, body, is_delivered) in [
            (ChannelType::TeamChatA, 200, "ok", true),
            (ChannelType::TeamChatA, 200, "ok\n", true),
            (ChannelType::TeamChatA, 200, "", false),
            (ChannelType::TeamChatA, 200, "okay", false),
            (ChannelType::TeamChatA, 200, "OK", false),
            (ChannelType::TeamChatA, 200, "{\"ok\":true}", false),
            (ChannelType::TeamChatA, 204, "ok", false),
            (ChannelType::TeamChatB, 204, "", true),
            (ChannelType::TeamChatB, 200, "{}", true),
            (ChannelType::TeamChatC, 202, "", true),
            (ChannelType::TeamChatC, 200, "1", true),
            (ChannelType::PagingA, 202, "{}", true),
            (ChannelType::PagingB, 202, "{}", true),
            (ChannelType::Webhook, 200, "no_service", true),
            (ChannelType::Webhook, 299, "", true),
            (ChannelType::Webhook, 300, "", false),
            (ChannelType::Webhook, 199, "", false),
        ] {
            let outcome = judged(channel_type, status, body);
            assert_eq!(outcome == Outcome::Delivered, is_delivered, "{channel_type:?} {status}");
        }
    }

    /// Checks the reason after the status, and whether the channel is disabled.
    fn check_failure(
        (channel_type, status, body, hint, disables): (ChannelType, u16, &str, &str, bool),
    ) {
        let reason = format!("HTTP {status} from the receiver{hint}");
        assert_eq!(judged(channel_type, status, body), failed(&reason, disables), "{body}");
    }

    #[test]
    fn failures_of_chats_have_a_reason_and_may_disable_the_channel() {
        use ChannelType::{TeamChatA, TeamChatB, TeamChatC};
        for case in [
            (TeamChatA, 200, "no_service", ": no_service", true),
            (TeamChatA, 404, "no_service\n", ": no_service", true),
            (TeamChatA, 403, "invalid_token", ": invalid_token", true),
            (TeamChatA, 410, "channel_is_archived", ": channel_is_archived", true),
            (TeamChatA, 400, "invalid_payload", ": invalid_payload", false),
            (TeamChatA, 403, "action_prohibited", ": action_prohibited", false),
            (TeamChatA, 404, "<secret>", ": the address does not exist", false),
            (TeamChatA, 200, "<secret>", ": the response does not confirm the message", false),
            (TeamChatB, 404, r#"{"code": 10015}"#, ": unknown webhook", true),
            (TeamChatB, 404, "", ": the address does not exist", true),
            (TeamChatB, 400, r#"{"code": 50035}"#, ": invalid form body", false),
            (TeamChatB, 400, r#"{"code": "secret"}"#, "", false),
            (TeamChatB, 401, r#"{"code": 7}"#, ": the credentials were refused", false),
            (TeamChatC, 404, "", ": the address does not exist", false),
        ] {
            check_failure(case);
        }
    }

    #[test]
    fn failures_of_other_receivers_have_a_reason_and_may_disable_the_channel() {
        use ChannelType::{PagingA, PagingB, Webhook};
        for case in [
            (PagingA, 400, r#"{"errors": ["secret"]}"#, "", false),
            (PagingA, 302, "", ": redirects are not followed", false),
            (PagingB, 403, "secret", ": the credentials were refused", false),
            (Webhook, 410, "", ": the address does not exist", true),
            (Webhook, 404, "no_service", ": the address does not exist", false),
            (Webhook, 413, "", ": the message is too large", false),
        ] {
            check_failure(case);
        }
    }

    #[test]
    fn no_byte_of_an_unknown_body_is_shown() {
        let bodies: [&[u8]; 5] = [
            b"secret",
            b"{\"code\":10015.5,\"secret\":1}",
            b"secret\xff\xfe",
            b"[[[[[[",
            b"\"secret\"",
        ];
        for channel_type in HTTP_TYPES {
            for (status, body) in [200, 302, 400, 404, 429, 500].iter().zip(bodies.iter().cycle()) {
                let outcome = judge(channel_type, *status, &HeaderMap::new(), body, NOW);
                assert!(!format!("{outcome:?}").contains("secret"), "{outcome:?}");
            }
        }
    }

    #[test]
    fn the_time_to_wait_is_read_and_bounded() {
        let year = "31536000";
        for (header, expected_ms) in [
            ("3", Some(3_000)),
            (" 0 ", Some(0)),
            ("3600", Some(3_600_000)),
            ("3601", Some(3_600_000)),
            (year, Some(3_600_000)),
            ("99999999999999999999999999", Some(3_600_000)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(30_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(30_000)),
            ("Sun Nov  6 08:49:37 1994", Some(30_000)),
            ("Sun, 06 Nov 1994 08:49:06 GMT", Some(0)),
            ("Mon, 06 Nov 2034 08:49:37 GMT", Some(3_600_000)),
            ("Sat, 06 Nov 1994 08:49:37 GMT", None),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, header.parse().unwrap())]);
            for (channel_type, status) in [(ChannelType::Webhook, 429), (ChannelType::PagingA, 503)]
            {
                let Outcome::Retry { after, .. } = judge(channel_type, status, &headers, b"", NOW)
                else {
                    panic!("{status} is temporary");
                };
                assert_eq!(after, expected_ms.map(Duration::from_millis), "{header:?}");
            }
        }
    }

    #[test]
    fn a_chat_of_type_b_asks_to_wait_in_its_body() {
        for (header, body, expected_ms) in [
            (None, r#"{"retry_after": 0.25, "global": false}"#, Some(250)),
            (None, r#"{"retry_after": 64}"#, Some(64_000)),
            (Some("2"), r#"{"retry_after": 0.25}"#, Some(2_000)),
            (Some("1"), r#"{"retry_after": 1.5}"#, Some(1_500)),
            (None, r#"{"retry_after": 1e300}"#, Some(3_600_000)),
            (None, r#"{"retry_after": -1}"#, None),
            (None, r#"{"retry_after": "1"}"#, None),
            (None, "[1]", None),
            (Some("2"), "<html>", Some(2_000)),
        ] {
            let value = header.map(|text: &str| (RETRY_AFTER, text.parse().unwrap()));
            let headers = HeaderMap::from_iter(value);
            let outcome = judge(ChannelType::TeamChatB, 429, &headers, body.as_bytes(), NOW);
            let after = expected_ms.map(Duration::from_millis);
            let reason = "HTTP 429 from the receiver: too many requests".to_owned();
            assert_eq!(outcome, Outcome::Retry { after, reason }, "{body}");
        }
        let headers = HeaderMap::new();
        let body = br#"{"retry_after": 9}"#;
        let Outcome::Retry { after, .. } = judge(ChannelType::Webhook, 429, &headers, body, NOW)
        else {
            panic!("429 is temporary");
        };
        assert_eq!(after, None);
    }

    #[test]
    fn mail_servers_reply_with_codes_of_their_own() {
        let retry = |code| Outcome::Retry {
            after: None,
            reason: format!("SMTP {code} from the mail server"),
        };
        for (code, expected) in [
            (250, Outcome::Delivered),
            (421, retry(421)),
            (451, retry(451)),
            (550, failed("SMTP 550 from the mail server", false)),
            (354, failed("SMTP 354 from the mail server", false)),
        ] {
            assert_eq!(judged(ChannelType::Email, code, ""), expected);
        }
    }
}
