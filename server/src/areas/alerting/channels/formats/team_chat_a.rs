//! Messages to a chat with incoming webhooks as Slack has them: `text`, which notifications and
//! compatible chats show, and `blocks`.
//!
//! `&`, `<` and `>` are escaped, so names contain neither mentions such as `<!channel>` nor links
//! (<https://docs.slack.dev/messaging/formatting-message-text>). `verbatim` keeps other words from
//! becoming either.

use serde_json::{Value, json};

use super::cut;
use super::markdown::BULLET;
use super::outbound_parts::OutboundParts;
use crate::areas::alerting::channels::config::{BaseUrl, ChatConfig};
use crate::areas::alerting::notice::{Notice, NoticeAlert};

/// Code units of a header block, part of the interface.
const HEADER_UNITS: usize = 150;
/// Code units of a line about one alert. A section may have 3000; ten lines and a title stay within
/// the 4000 that are shown of `text`.
const LINE_UNITS: usize = 300;
/// Code units of the title in `text` and of the condition.
const TITLE_UNITS: usize = 400;

/// Returns the request with a notification. It is sent to the server of `base`, if there is one,
/// instead of that of the webhook.
pub fn request(config: &ChatConfig, base: Option<&BaseUrl>, notice: &Notice) -> OutboundParts {
    let url = config.url(base);
    OutboundParts::post(url, &json!({ "text": text(notice), "blocks": blocks(notice) }))
}

fn text(notice: &Notice) -> String {
    let mut lines = vec![cut::escaped(&notice.title(), TITLE_UNITS, escape)];
    let alerts = notice.described().iter();
    lines.extend(alerts.map(|alert| cut::escaped(&notice.line(alert), LINE_UNITS, escape)));
    lines.extend(notice.more());
    lines.join("\n")
}

fn blocks(notice: &Notice) -> Vec<Value> {
    let header = cut::escaped(&notice.title(), HEADER_UNITS, escape);
    let mut blocks = vec![json!({
        "type": "header",
        "text": { "type": "plain_text", "text": header, "emoji": false },
    })];
    let alerts = notice.described().iter();
    blocks.extend(alerts.map(|alert| section(&line(notice, alert))));
    blocks.extend(notice.more().map(|more| section(&more)));
    let condition = cut::escaped(&notice.condition(), TITLE_UNITS, escape);
    let facts = format!("Condition: {condition} | Severity: {}", notice.severity.as_str());
    blocks.push(json!({ "type": "context", "elements": [verbatim(&facts)] }));
    blocks
}

/// Returns the line about an alert, with a link if there is one.
fn line(notice: &Notice, alert: &NoticeAlert) -> String {
    let line = cut::escaped(&notice.line(alert), LINE_UNITS, escape);
    match notice.link(alert) {
        Some(link) => format!("{BULLET}{line} <{link}|Details>"),
        None => format!("{BULLET}{line}"),
    }
}

fn section(text: &str) -> Value {
    json!({ "type": "section", "text": verbatim(text) })
}

fn verbatim(text: &str) -> Value {
    json!({ "type": "mrkdwn", "text": text, "verbatim": true })
}

fn escape(character: char) -> Option<&'static str> {
    match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing};

    fn config() -> ChatConfig {
        examples::chat("https://hooks.example/services/T/B/x")
    }

    #[test]
    fn a_message_has_a_text_and_blocks() {
        let notice = Notice { total: 38, ..firing() };
        let request = request(&config(), None, &notice);
        assert_eq!(
            (request.method.as_str(), request.url.as_str()),
            ("POST", "https://hooks.example/services/T/B/x")
        );
        assert_eq!(request.header("content-type"), Some("application/json"));
        let line = "host=web-1,region=eu: 97.3 &gt; 90 since 2026-01-02T03:04:05Z";
        let link = "https://telltale.example/api/v1/alerts/alert_1";
        let mrkdwn = |text: &str| json!({ "type": "mrkdwn", "text": text, "verbatim": true });
        let expected = json!({
            "text": format!("[critical] 38 alerts: CPU high\n{line}\nand 37 more"),
            "blocks": [
                { "type": "header", "text": { "type": "plain_text", "text": "[critical] 38 alerts: CPU high", "emoji": false } },
                { "type": "section", "text": mrkdwn(&format!("• {line} <{link}|Details>")) },
                { "type": "section", "text": mrkdwn("and 37 more") },
                { "type": "context", "elements": [mrkdwn("Condition: avg of cpu.usage &gt; 90 over 5m | Severity: critical")] },
            ],
        });
        assert_eq!(request.json(), expected);
    }

    #[test]
    fn a_proxy_receives_the_path_of_the_webhook() {
        let base = BaseUrl::parse("http://127.0.0.1:99/a").unwrap();
        let request = request(&config(), Some(&base), &firing());
        assert_eq!(request.url, "http://127.0.0.1:99/a/services/T/B/x");
    }

    #[test]
    fn names_contain_no_mentions_and_no_links() {
        let labels = vec![("<!here>".to_owned(), "<https://evil.example|ok>&amp;".to_owned())];
        let notice = Notice {
            rule_name: "<!channel> <@U1>".to_owned(),
            condition: "<!everyone>".to_owned(),
            base_url: None,
            alerts: vec![NoticeAlert { labels, ..alert(1) }],
            ..firing()
        };
        let body = String::from_utf8(request(&config(), None, &notice).body).unwrap();
        assert!(!body.contains('<') && !body.contains('>'), "{body}");
        assert!(body.contains("&lt;!channel&gt;") && body.contains("&amp;amp;"), "{body}");
    }

    #[test]
    fn extreme_notices_stay_within_the_limits() {
        for notice in extreme() {
            let body = request(&config(), None, &notice).json();
            assert!(cut::units(body["text"].as_str().unwrap()) <= 4_000);
            let blocks = body["blocks"].as_array().unwrap();
            assert!(blocks.len() <= 50);
            let mut header_units = 0;
            for block in blocks {
                let is_context = block["type"] == "context";
                let text = if is_context { &block["elements"][0] } else { &block["text"] };
                let text = text["text"].as_str().unwrap();
                let max = if block["type"] == "header" { 150 } else { 3_000 };
                assert!((1..=max).contains(&cut::units(text)), "{text}");
                header_units = header_units.max(if max == 150 { cut::units(text) } else { 0 });
                let rest = text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "");
                assert!(!rest.contains('&'), "{text}");
            }
            assert!(header_units > 140, "the limit is used");
        }
    }
}
