//! Configurations for the tests of the formats.

use super::channel_config::{
    ChatConfig, EmailConfig, PagingAConfig, PagingBConfig, WebhookConfig, read_headers,
};
use super::urls::{BaseUrl, WebhookUrl};
use crate::areas::alerting::channels::signature::SigningSecret;
use crate::platform::redaction::Secret;

/// Returns the configuration of a chat.
pub(in crate::areas::alerting) fn chat(webhook_url: &str) -> ChatConfig {
    ChatConfig { webhook_url: WebhookUrl::parse(webhook_url).unwrap() }
}

/// Returns the configuration of a paging service of type A.
pub(in crate::areas::alerting) fn paging_a(routing_key: &str) -> PagingAConfig {
    PagingAConfig { routing_key: Secret::new(routing_key.to_owned()) }
}

/// Returns the configuration of a paging service of type B.
pub(in crate::areas::alerting) fn paging_b(api_key: &str, api_url: Option<&str>) -> PagingBConfig {
    PagingBConfig {
        api_key: Secret::new(api_key.to_owned()),
        api_url: api_url.map(|url| BaseUrl::parse(url).unwrap()),
    }
}

/// Returns the configuration of an email channel.
pub(in crate::areas::alerting) fn email(recipients: &[&str]) -> EmailConfig {
    EmailConfig { recipients: recipients.iter().map(|address| address.parse().unwrap()).collect() }
}

/// Returns the configuration of a webhook.
pub(in crate::areas::alerting) fn webhook(
    webhook_url: &str,
    headers: &[(&str, &str)],
) -> WebhookConfig {
    let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    WebhookConfig {
        webhook_url: WebhookUrl::parse(webhook_url).unwrap(),
        headers: read_headers(headers.collect()).unwrap(),
        signing_secret: SigningSecret::from_random([7; 32]),
        previous_secret: None,
    }
}
