//! Messages to a chat with webhooks as Discord has them: `content`, which notifications show, and
//! an embed.
//!
//! `allowed_mentions` keeps names such as `@everyone` from notifying anyone
//! (<https://discord.com/developers/docs/resources/message#allowed-mentions-object>).

use serde_json::{Value, json};

use super::cut;
use super::markdown::{BULLET, chat_b};
use super::outbound_parts::OutboundParts;
use crate::areas::alerting::channels::config::{BaseUrl, ChatConfig};
use crate::areas::alerting::notice::{Notice, NoticeAlert, NoticeKind, Severity};
use crate::platform::time;

/// Code units of `content`, part of the interface.
const CONTENT_UNITS: usize = 2_000;
/// Code units of an embed's title, part of the interface.
const TITLE_UNITS: usize = 256;
/// Code units of the value of a field, part of the interface.
const FIELD_UNITS: usize = 1_024;
/// Code units of a line about one alert, its link excluded. Ten lines without links fit into the
/// description; the longest description, title and fields together stay below 6000, the limit of an
/// embed.
const LINE_UNITS: usize = 300;
/// Code units of the description, part of the interface.
const DESCRIPTION_UNITS: usize = 4_096;

/// Returns the request with a notification. It is sent to the server of `base`, if there is one,
/// instead of that of the webhook.
pub fn request(config: &ChatConfig, base: Option<&BaseUrl>, notice: &Notice) -> OutboundParts {
    let url = config.url(base);
    let body = json!({
        "content": cut::escaped(&notice.title(), CONTENT_UNITS, chat_b),
        "embeds": [embed(notice)],
        "allowed_mentions": { "parse": [] },
    });
    OutboundParts::post(url, &body)
}

fn embed(notice: &Notice) -> Value {
    let mut embed = json!({
        "title": cut::escaped(&notice.title(), TITLE_UNITS, chat_b),
        "description": description(notice),
        "color": color(notice),
        "timestamp": time::format(notice.sent_at),
        "fields": [
            {
                "name": "Condition",
                "value": cut::escaped(&non_empty(notice.condition()), FIELD_UNITS, chat_b),
            },
            { "name": "Severity", "value": notice.severity.as_str(), "inline": true },
        ],
    });
    if let (Some(link), Some(embed)) = (notice.single_link(), embed.as_object_mut()) {
        embed.insert("url".to_owned(), Value::String(link));
    }
    embed
}

/// Returns the lines about the alerts: with links if all of them fit, else without.
fn description(notice: &Notice) -> String {
    let lines = |with_links: bool| {
        let alerts = notice.described().iter();
        let lines = alerts.map(|alert| line(notice, alert, with_links)).chain(notice.more());
        lines.collect::<Vec<_>>().join("\n")
    };
    let linked = lines(true);
    if cut::units(&linked) <= DESCRIPTION_UNITS { linked } else { lines(false) }
}

fn line(notice: &Notice, alert: &NoticeAlert, with_link: bool) -> String {
    let line = cut::escaped(&notice.line(alert), LINE_UNITS, chat_b);
    match notice.link(alert).filter(|_| with_link) {
        Some(link) => format!("{BULLET}{line} [Details]({link})"),
        None => format!("{BULLET}{line}"),
    }
}

/// Returns what is shown in a field, which must not be empty.
fn non_empty(text: String) -> String {
    if text.trim().is_empty() { "none".to_owned() } else { text }
}

/// Returns the colour of the embed's edge, as RGB.
fn color(notice: &Notice) -> u32 {
    match (notice.kind, notice.severity) {
        (NoticeKind::Resolved, _) => 0x2e_a0_43,
        (NoticeKind::Acknowledged | NoticeKind::Test, _) => 0x6e_77_81,
        (_, Severity::Critical) => 0xd1_24_2f,
        (_, Severity::Warning) => 0xd9_8a_00,
        (_, Severity::Info) => 0x09_69_da,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::alerting::channels::config::examples;
    use crate::areas::alerting::notice::examples::{alert, extreme, firing, resolved};

    fn config() -> ChatConfig {
        examples::chat("https://chat.example/api/webhooks/1/x?wait=true")
    }

    #[test]
    fn a_message_has_content_and_an_embed() {
        let request = request(&config(), None, &firing());
        assert_eq!(request.url, "https://chat.example/api/webhooks/1/x?wait=true");
        let link = "https://telltale.example/api/v1/alerts/alert_1";
        let expected = json!({
            "content": "\\[critical] CPU high: host=web-1,region=eu",
            "embeds": [{
                "title": "\\[critical] CPU high: host=web-1,region=eu",
                "description": format!("• host=web-1,region=eu: 97.3 > 90 since 2026-01-02T03:04:05Z [Details]({link})"),
                "color": 0xd1_24_2f,
                "timestamp": "2026-01-02T03:05:05.678Z",
                "fields": [
                    { "name": "Condition", "value": "avg of cpu.usage > 90 over 5m" },
                    { "name": "Severity", "value": "critical", "inline": true },
                ],
                "url": link,
            }],
            "allowed_mentions": { "parse": [] },
        });
        assert_eq!(request.json(), expected);
    }

    #[test]
    fn the_end_of_an_alert_is_green_and_several_alerts_have_no_common_link() {
        let body = request(&config(), None, &resolved()).json();
        assert_eq!(body["embeds"][0]["color"], 0x2e_a0_43);
        let notice = Notice { alerts: (0..3).map(alert).collect(), total: 40, ..firing() };
        let body = request(&config(), None, &notice).json();
        assert_eq!(body["embeds"][0].get("url"), None);
        let description = body["embeds"][0]["description"].as_str().unwrap();
        assert_eq!(description.lines().count(), 4);
        assert!(description.ends_with("\nand 37 more"), "{description}");
    }

    #[test]
    fn names_contain_no_markup() {
        let labels = vec![("a_b".to_owned(), "[x](https://evil.example) ||<@1>||".to_owned())];
        let notice = Notice {
            rule_name: "@everyone **b** `c` ~~d~~ \\".to_owned(),
            condition: " ".to_owned(),
            base_url: None,
            alerts: vec![NoticeAlert { labels, ..alert(1) }],
            ..firing()
        };
        let body = request(&config(), None, &notice).json();
        let content = body["content"].as_str().unwrap();
        let expected = r"\[critical] \@everyone \*\*b\*\* \`c\` \~\~d\~\~ \\: a\_b=\[x](https://evil.example) \|\|\<\@1>\|\|";
        assert_eq!(content, expected);
        assert_eq!(body["embeds"][0]["fields"][0]["value"], "none");
        assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
    }

    #[test]
    fn extreme_notices_stay_within_the_limits() {
        let bases = [None, Some(format!("https://{}.example", "a".repeat(400)))];
        for (notice, base_url) in
            extreme().into_iter().flat_map(|n| bases.clone().map(|b| (n.clone(), b)))
        {
            let body = request(&config(), None, &Notice { base_url, ..notice }).json();
            let units = |value: &Value| cut::units(value.as_str().unwrap());
            let embed = &body["embeds"][0];
            assert!((1_990..=2_000).contains(&units(&body["content"])));
            assert!((1..=256).contains(&units(&embed["title"])));
            assert!((1..=4_096).contains(&units(&embed["description"])));
            let mut total = units(&embed["title"]) + units(&embed["description"]);
            for field in embed["fields"].as_array().unwrap() {
                assert!((1..=256).contains(&units(&field["name"])));
                assert!((1..=1_024).contains(&units(&field["value"])));
                total += units(&field["name"]) + units(&field["value"]);
            }
            assert!(total <= 6_000, "{total}");
        }
    }
}
