//! Emails: a plain text and the same in HTML.
//!
//! All emails about an alert refer to one message id, which is derived from its deduplication key
//! and never used by a message, so that mail programs show them as one thread.
//!
//! No name can add a header: the strings of a notification are single lines, message ids are made
//! of letters and digits, and addresses contain no control characters.

use std::time::{Duration, SystemTime};

use lettre::Message;
use lettre::message::{Mailbox, MultiPart, SinglePart};

use super::{cut, receiver_key};
use crate::areas::alerting::channels::config::EmailConfig;
use crate::areas::alerting::notice::{Notice, one_line};
use crate::platform::mail::AutoSubmitted;

/// Code units of a subject: what mail programs show, and few enough for all of them.
const SUBJECT_UNITS: usize = 200;
/// Code units of a line of the body.
const LINE_UNITS: usize = 2_000;
/// Characters of a hash in a message id or boundary: 128 bits.
const HASH_CHARS: usize = 32;
/// 9999-12-31T23:59:59Z, the last instant that a date in an email can have.
const LAST_SECOND: u64 = 253_402_300_799;

/// Returns the email with a notification. All attempts to deliver it have the same `message_id`.
pub fn message(
    config: &EmailConfig,
    from: &Mailbox,
    message_id: &str,
    notice: &Notice,
) -> Result<Message, lettre::error::Error> {
    let domain = from.email.domain();
    let (text, html) = (text(notice), html(notice));
    // A body cannot contain its own hash.
    let boundary = short_hash(&format!("{text}{html}"));
    let body = MultiPart::alternative()
        .boundary(boundary)
        .singlepart(SinglePart::plain(text))
        .singlepart(SinglePart::html(html));
    let mut builder = Message::builder()
        .from(from.clone())
        .subject(subject(notice))
        .date(date(notice))
        .message_id(Some(format!("<{}@{domain}>", local_part(message_id))))
        .header(AutoSubmitted);
    for recipient in &config.recipients {
        builder = builder.to(Mailbox::new(None, recipient.clone()));
    }
    let threads = threads(notice, domain);
    if let Some(first) = threads.first() {
        builder = builder.in_reply_to(first.clone()).references(threads.join(" "));
    }
    builder.multipart(body)
}

fn subject(notice: &Notice) -> String {
    // A program would decode an encoded word of RFC 2047 that a name contains.
    cut::plain(&notice.title().replace("=?", "= ?"), SUBJECT_UNITS)
}

/// Returns the time of the notification, or the nearest that a date in an email can have.
fn date(notice: &Notice) -> SystemTime {
    let seconds = u64::try_from(notice.sent_at.0 / 1_000).unwrap_or(0).min(LAST_SECOND);
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Returns the message ids of the alerts' threads.
fn threads(notice: &Notice, domain: &str) -> Vec<String> {
    let id = |key: &str| format!("<alert.{}@{domain}>", short_hash(key));
    notice.described().iter().map(|alert| id(&alert.dedup_key)).collect()
}

/// Returns the id if it can be the local part of a message id as it is, else its hash.
fn local_part(message_id: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let fits = (1..=2 * HASH_CHARS).contains(&message_id.len());
    if fits && message_id.bytes().all(is_plain) {
        message_id.to_owned()
    } else {
        short_hash(message_id)
    }
}

fn short_hash(text: &str) -> String {
    receiver_key::sha256(text).chars().take(HASH_CHARS).collect()
}

/// Returns name and value of what is known about the rule.
fn facts(notice: &Notice) -> [(&'static str, String); 3] {
    [
        ("Rule", cut::plain(&one_line(&notice.rule_name), LINE_UNITS)),
        ("Severity", notice.severity.as_str().to_owned()),
        ("Condition", cut::plain(&notice.condition(), LINE_UNITS)),
    ]
}

fn text(notice: &Notice) -> String {
    let mut lines = vec![cut::plain(&notice.title(), LINE_UNITS), String::new()];
    lines.extend(facts(notice).map(|(name, value)| format!("{name}: {value}")));
    lines.push(String::new());
    for alert in notice.described() {
        lines.push(format!("- {}", cut::plain(&notice.line(alert), LINE_UNITS)));
        lines.extend(notice.link(alert).map(|link| format!("  {link}")));
    }
    lines.extend(notice.more());
    lines.push(String::new());
    lines.join("\r\n")
}

fn html(notice: &Notice) -> String {
    let escaped = |text: &str| cut::escaped(text, LINE_UNITS, escape);
    let title = escaped(&notice.title());
    let facts = facts(notice).map(|(name, value)| format!("{name}: {}<br>\r\n", escaped(&value)));
    let mut items = String::new();
    for alert in notice.described() {
        let link = notice.link(alert).map(|link| format!(" <a href=\"{link}\">Details</a>"));
        let line = escaped(&notice.line(alert));
        items.push_str(&format!("<li>{line}{}</li>\r\n", link.unwrap_or_default()));
    }
    let more = notice.more().map(|more| format!("<p>{more}</p>\r\n")).unwrap_or_default();
    format!(
        "<!DOCTYPE html>\r\n<html lang=\"en\">\r\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\r\n\
         <body>\r\n<h3>{title}</h3>\r\n<p>\r\n{}</p>\r\n<ul>\r\n{items}</ul>\r\n{more}</body>\r\n</html>\r\n",
        facts.concat()
    )
}

fn escape(character: char) -> Option<&'static str> {
    match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::notice::NoticeAlert;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing, resolved};
    use telltale_engine::TimestampMs;

    fn raw_to(recipients: &[&str], message_id: &str, notice: &Notice) -> String {
        let sender = "alerts@telltale.example".parse().unwrap();
        let from = Mailbox::new(Some("Télltale, Inc.".to_owned()), sender);
        let message = message(&examples::email(recipients), &from, message_id, notice).unwrap();
        String::from_utf8(message.formatted()).unwrap()
    }

    fn raw(notice: &Notice) -> String {
        raw_to(&["ann@example.com", "bob@example.com"], "ntf_1", notice)
    }

    /// Returns the unfolded headers.
    fn headers(raw: &str) -> Vec<(String, String)> {
        let (head, _) = raw.split_once("\r\n\r\n").unwrap();
        let unfolded = head.replace("\r\n ", " ");
        let pairs = unfolded.split("\r\n").map(|line| line.split_once(": ").unwrap());
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn header(raw: &str, name: &str) -> String {
        let headers = headers(raw);
        let mut found = headers.into_iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let (_, value) = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.next(), None, "{name} is unique");
        value
    }

    #[test]
    fn an_email_has_a_text_and_html() {
        let raw = raw(&Notice { total: 38, ..firing() });
        let thread = format!("<alert.{}@telltale.example>", short_hash("key-1"));
        for (name, expected) in [
            ("To", "ann@example.com, bob@example.com"),
            ("Subject", "[critical] 38 alerts: CPU high"),
            ("Date", "Fri, 02 Jan 2026 03:05:05 +0000"),
            ("Message-ID", "<ntf_1@telltale.example>"),
            ("In-Reply-To", thread.as_str()),
            ("References", thread.as_str()),
            ("Auto-Submitted", "auto-generated"),
            ("MIME-Version", "1.0"),
        ] {
            assert_eq!(header(&raw, name), expected);
        }
        assert!(header(&raw, "From").ends_with("<alerts@telltale.example>"));
        assert!(header(&raw, "Content-Type").starts_with("multipart/alternative; boundary="));
        let text = "[critical] 38 alerts: CPU high\r\n\r\nRule: CPU high\r\nSeverity: critical\r\n\
                    Condition: avg of cpu.usage > 90 over 5m\r\n\r\n\
                    - host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z\r\n  \
                    https://telltale.example/api/v1/alerts/alert_1\r\nand 37 more\r\n";
        assert!(raw.contains(text), "{raw}");
        assert!(raw.contains("<p>and 37 more</p>"), "{raw}");
        let (plain, html) = (raw.find("text/plain").unwrap(), raw.find("text/html").unwrap());
        assert!(plain < html, "the preferred part is the last");
    }

    #[test]
    fn emails_about_an_alert_are_one_thread() {
        let (first, last) = (raw(&firing()), raw(&resolved()));
        assert_eq!(header(&first, "References"), header(&last, "References"));
        let again = raw_to(&["ann@example.com"], "ntf_2", &firing());
        assert_ne!(header(&first, "Message-ID"), header(&again, "Message-ID"));
        assert_eq!(raw(&firing()), first, "another attempt sends the same message");
        let several = raw(&Notice { alerts: (0..12).map(alert).collect(), ..firing() });
        assert_eq!(header(&several, "References").split(' ').count(), 10);
        let other = raw(&Notice { alerts: vec![alert(2)], ..firing() });
        assert_ne!(header(&other, "References"), header(&first, "References"));
        let none = raw(&Notice { alerts: Vec::new(), total: 0, ..firing() });
        assert!(headers(&none).iter().all(|(name, _)| name != "References"));
    }

    #[test]
    fn names_add_no_headers() {
        let names: Vec<String> =
            headers(&raw(&firing())).into_iter().map(|(name, _)| name).collect();
        for name in [
            "x\r\nBcc: a@b.example",
            "x\nBcc: a@b.example",
            "x\rBcc: a@b.example",
            "x\r\n\r\n--boundary",
            "x\0\u{85}\u{2028}y",
            "=?utf-8?q?x=0d=0aBcc:_a@b.example?=",
            "漢\r\nBcc: a@b.example",
        ] {
            let labels = vec![(name.to_owned(), name.to_owned())];
            let alerts = vec![NoticeAlert {
                labels,
                dedup_key: name.to_owned(),
                by: Some(name.to_owned()),
                summary: Some(name.to_owned()),
                ..alert(1)
            }];
            let notice = Notice {
                rule_name: name.to_owned(),
                rule_id: name.to_owned(),
                condition: name.to_owned(),
                base_url: Some(format!("https://a.example/{name}")),
                alerts,
                ..firing()
            };
            let raw = raw_to(&["ann@example.com", "bob@example.com"], name, &notice);
            let found: Vec<String> = headers(&raw).into_iter().map(|(name, _)| name).collect();
            assert_eq!(found, names, "{name:?}");
            assert!(!raw.contains("\nBcc"), "{name:?}");
            let subject = header(&raw, "Subject");
            assert!(!subject.contains("=?utf-8?q?x"), "{subject}");
        }
    }

    #[test]
    fn html_is_escaped() {
        let labels = vec![("<b>".to_owned(), "\"'><script>alert(1)</script>&amp;".to_owned())];
        let alerts = vec![NoticeAlert { labels, ..alert(1) }];
        let notice = Notice { rule_name: "<img src=x>".to_owned(), alerts, ..firing() };
        let html = html(&notice);
        assert!(
            !html.contains("<img") && !html.contains("<script") && !html.contains("<b>"),
            "{html}"
        );
        let expected = "&lt;b&gt;=&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;";
        assert!(html.contains(expected), "{html}");
    }

    #[test]
    fn extreme_notices_make_bounded_emails() {
        for notice in extreme() {
            assert!((195..=200).contains(&cut::units(&subject(&notice))));
            let raw = raw(&notice);
            assert!(raw.len() < 1 << 20, "{}", raw.len());
            let longest = raw.split("\r\n").map(str::len).max();
            assert!(longest <= Some(998), "{longest:?}");
            assert!(raw.is_ascii());
        }
        for (ms, expected) in [
            (i64::MIN, "Thu, 01 Jan 1970 00:00:00 +0000"),
            (-1, "Thu, 01 Jan 1970 00:00:00 +0000"),
            (i64::MAX, "Fri, 31 Dec 9999 23:59:59 +0000"),
        ] {
            let raw = raw(&Notice { sent_at: TimestampMs(ms), ..firing() });
            assert_eq!(header(&raw, "Date"), expected);
        }
    }
}
