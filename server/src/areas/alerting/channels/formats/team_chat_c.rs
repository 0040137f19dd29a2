//! Messages to a chat with workflows that accept adaptive cards, as Teams has them.
//!
//! Blocks of text are Markdown. The service limits a message to 28 KB
//! (<https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook>).

use serde_json::{Value, json};

use super::cut;
use super::markdown::{BULLET, chat_c};
use super::outbound_parts::OutboundParts;
use crate::areas::alerting::channels::config::{BaseUrl, ChatConfig};
use crate::areas::alerting::notice::{Notice, NoticeAlert};

/// Code units of the title and of the condition.
const TITLE_UNITS: usize = 400;
/// Code units of a line about one alert, its link excluded. A code unit takes at most three bytes
/// of JSON, since there are no control characters: ten lines with links, title and condition take
/// at most 23 KB.
const LINE_UNITS: usize = 500;

/// Returns the request with a notification. It is sent to the server of `base`, if there is one,
/// instead of that of the webhook.
pub fn request(config: &ChatConfig, base: Option<&BaseUrl>, notice: &Notice) -> OutboundParts {
    let url = config.url(base);
    let body = json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": card(notice),
        }],
    });
    OutboundParts::post(url, &body)
}

fn card(notice: &Notice) -> Value {
    let title = cut::escaped(&notice.title(), TITLE_UNITS, chat_c);
    let condition = cut::escaped(&notice.condition(), TITLE_UNITS, chat_c);
    let mut body = vec![json!({
        "type": "TextBlock",
        "text": title,
        "weight": "bolder",
        "size": "medium",
        "wrap": true,
    })];
    let alerts = notice.described().iter();
    body.extend(alerts.map(|alert| text_block(&line(notice, alert))));
    body.extend(notice.more().map(|more| text_block(&more)));
    let severity = notice.severity.as_str();
    body.push(text_block(&format!("Condition: {condition}, severity: {severity}")));
    json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": body,
        "msteams": { "width": "full" },
    })
}

fn text_block(text: &str) -> Value {
    json!({ "type": "TextBlock", "text": text, "wrap": true })
}

fn line(notice: &Notice, alert: &NoticeAlert) -> String {
    let line = cut::escaped(&notice.line(alert), LINE_UNITS, chat_c);
    match notice.link(alert) {
        Some(link) => format!("{BULLET}{line} [Details]({link})"),
        None => format!("{BULLET}{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing};

    /// The limit of the service.
    const BODY_BYTES: usize = 28_000;

    fn config() -> ChatConfig {
        examples::chat("https://flow.example/workflows/1?sig=x")
    }

    #[test]
    fn a_message_is_an_adaptive_card() {
        let request = request(&config(), None, &Notice { total: 38, ..firing() });
        assert_eq!(request.url, "https://flow.example/workflows/1?sig=x");
        let link = "https://telltale.example/api/v1/alerts/alert_1";
        let text = |text: &str| json!({ "type": "TextBlock", "text": text, "wrap": true });
        let expected = json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": null,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.2",
                    "body": [
                        { "type": "TextBlock", "text": "\\[critical] 38 alerts: CPU high", "weight": "bolder", "size": "medium", "wrap": true },
                        text(&format!("• host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z [Details]({link})")),
                        text("and 37 more"),
                        text("Condition: avg of cpu.usage > 90 over 5m, severity: critical"),
                    ],
                    "msteams": { "width": "full" },
                },
            }],
        });
        assert_eq!(request.json(), expected);
    }

    #[test]
    fn names_contain_no_markup() {
        let labels = vec![("a_b".to_owned(), "[x](https://evil.example) *y* `z` \\".to_owned())];
        let alerts = vec![NoticeAlert { labels, ..alert(1) }];
        let notice = Notice { alerts, base_url: None, ..firing() };
        let body = request(&config(), None, &notice).json();
        let title = &body["attachments"][0]["content"]["body"][0]["text"];
        let expected = r"\[critical] CPU high: a\_b=\[x](https://evil.example) \*y\* \`z\` \\";
        assert_eq!(title, expected);
    }

    #[test]
    fn extreme_notices_stay_within_the_limit() {
        let base_url = Some(format!("https://{}.example", "a".repeat(450)));
        let mut largest = 0;
        for notice in extreme() {
            let notice = Notice { base_url: base_url.clone(), ..notice };
            let bytes = request(&config(), None, &notice).body.len();
            assert!(bytes <= BODY_BYTES, "{bytes}");
            largest = largest.max(bytes);
        }
        assert!(largest > BODY_BYTES / 2, "the notices are not extreme: {largest}");
    }
}
