//! Sends a message to a channel, once.

use std::time::Duration;

use futures_util::future::join_all;
use lettre::Address;
use telltale_engine::TimestampMs;
use tokio::time::timeout;

use super::config::{ChannelConfig, ChannelType, EmailConfig};
use super::formats::{
    OutboundParts, email, paging_a, paging_b, team_chat_a, team_chat_b, team_chat_c, webhook,
};
use super::outcome::{Outcome, judge};
use crate::app::App;
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::Notice;
use crate::areas::alerting::state::Alerting;
use crate::platform::outbound::{OutboundError, OutboundRequest, OutboundUrl, Redirects};

/// Checks that the addresses of a configuration may be reached, as far as their text tells. Names
/// are checked when they are resolved.
pub(super) fn check_addresses(app: &App, config: &ChannelConfig) -> Result<(), Invalid> {
    let policy = app.alerting().client().policy();
    let fields = config.revealed();
    for (name, url) in [("webhook_url", fields.webhook_url), ("api_url", fields.api_url)] {
        if let Some(url) = url {
            OutboundUrl::parse(&url, policy)
                .map_err(|error| Invalid::field(format!("config.{name}"), error.to_string()))?;
        }
    }
    Ok(())
}

/// Sends a message. The first request of several that is not delivered decides the outcome. Takes
/// [`limits::DELIVERY_TIMEOUT_MS`] at most.
pub(super) async fn deliver(
    alerting: &Alerting,
    config: &ChannelConfig,
    message_id: &str,
    notice: &Notice,
    now: TimestampMs,
) -> Outcome {
    let limit = Duration::from_millis(limits::DELIVERY_TIMEOUT_MS);
    let sent = timeout(limit, send_all(alerting, config, message_id, notice, now)).await;
    sent.unwrap_or_else(|_| Outcome::Retry {
        after: None,
        reason: format!("not delivered within {} s", limit.as_secs()),
    })
}

async fn send_all(
    alerting: &Alerting,
    config: &ChannelConfig,
    message_id: &str,
    notice: &Notice,
    now: TimestampMs,
) -> Outcome {
    let settings = alerting.settings();
    let chat = settings.chat_url.get();
    let kind = config.channel_type();
    let requests = match config {
        ChannelConfig::TeamChatA(config) => vec![team_chat_a::request(config, chat, notice)],
        ChannelConfig::TeamChatB(config) => vec![team_chat_b::request(config, chat, notice)],
        ChannelConfig::TeamChatC(config) => vec![team_chat_c::request(config, chat, notice)],
        ChannelConfig::PagingA(config) => match settings.paging_a_url.get() {
            None => return unconfigured("notifications.paging_a_url"),
            Some(base) => {
                let request = |alert| paging_a::request(config, base, notice, alert);
                notice.alerts.iter().map(request).collect()
            }
        },
        ChannelConfig::PagingB(config) => {
            let base = config.api_url.as_ref().or(settings.paging_b_url.get());
            let Some(base) = base else { return unconfigured("notifications.paging_b_url") };
            let request = |alert| paging_b::request(config, base, notice, alert);
            notice.alerts.iter().map(request).collect()
        }
        ChannelConfig::Webhook(config) => vec![webhook::request(config, message_id, notice, now)],
        ChannelConfig::Email(config) => {
            return send_mail(alerting, config, message_id, notice).await;
        }
    };
    for parts in requests {
        let outcome = send(alerting, kind, parts, now).await;
        if outcome != Outcome::Delivered {
            return outcome;
        }
    }
    Outcome::Delivered
}

async fn send(
    alerting: &Alerting,
    kind: ChannelType,
    parts: OutboundParts,
    now: TimestampMs,
) -> Outcome {
    let OutboundParts { method, url, headers, body } = parts;
    let url = match OutboundUrl::parse(&url, alerting.client().policy()) {
        Ok(url) => url,
        Err(error) => return failed(format!("the URL {error}")),
    };
    let request = OutboundRequest {
        method,
        url,
        headers: headers.into_iter().collect(),
        body: body.into(),
        redirects: Redirects::Return,
        response_bytes_max: limits::RECEIVER_RESPONSE_BYTES_MAX,
        timeout: Duration::from_millis(limits::RECEIVER_TIMEOUT_MS),
    };
    match alerting.client().send(request).await {
        Ok(response) => {
            judge(kind, response.status.as_u16(), &response.headers, &response.body, now)
        }
        Err(error) => outcome_of(&error),
    }
}

fn outcome_of(error: &OutboundError) -> Outcome {
    if error.is_temporary() {
        Outcome::Retry { after: None, reason: error.to_string() }
    } else {
        failed(error.to_string())
    }
}

/// Sends one email to each recipient: a server that refuses one recipient must not keep the others
/// from being notified. A repetition may send some of them twice, with the same message id.
async fn send_mail(
    alerting: &Alerting,
    config: &EmailConfig,
    message_id: &str,
    notice: &Notice,
) -> Outcome {
    let Some(mailer) = alerting.mailer() else { return unconfigured("smtp.host") };
    let send_one = async |recipient: &Address| {
        let one = EmailConfig { recipients: vec![recipient.clone()] };
        let message = match email::message(&one, mailer.sender(), message_id, notice) {
            Ok(message) => message,
            Err(error) => return failed(format!("the email cannot be written: {error}")),
        };
        match mailer.send(message).await {
            Ok(()) => Outcome::Delivered,
            Err(error) if error.is_temporary() => {
                Outcome::Retry { after: None, reason: error.to_string() }
            }
            Err(error) => failed(error.to_string()),
        }
    };
    // All at once: the mailer limits how many connections it opens.
    let outcomes = join_all(config.recipients.iter().map(send_one)).await;
    let severity = |outcome: &Outcome| match outcome {
        Outcome::Delivered => 0,
        Outcome::Retry { .. } => 1,
        Outcome::Failed { .. } => 2,
    };
    outcomes.into_iter().max_by_key(severity).unwrap_or(Outcome::Delivered)
}

fn unconfigured(setting: &str) -> Outcome {
    failed(format!("the server has no {setting}"))
}

fn failed(reason: String) -> Outcome {
    Outcome::Failed { reason, disables: false }
}
