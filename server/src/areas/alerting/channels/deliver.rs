//! Sends a message to a channel, once.

use std::time::Duration;

use futures_util::future::join_all;
use lettre::Address;
use parking_lot::Mutex;
use telltale_engine::TimestampMs;
use tokio::time::timeout;

use super::config::{ChannelConfig, ChannelType, EmailConfig};
use super::formats::{
    OutboundParts, email, paging_a, paging_b, team_chat_a, team_chat_b, team_chat_c, webhook,
};
use super::outcome::{Outcome, judge};
use super::progress::{Postponed, Progress};
use crate::app::App;
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::{Notice, NoticeAlert};
use crate::areas::alerting::state::Alerting;
use crate::platform::outbound::{
    BodyUse, Lane, OutboundError, OutboundRequest, OutboundUrl, Redirects,
};

/// How an attempt is made.
#[derive(Clone, Copy, Debug)]
pub(in crate::areas::alerting) struct AttemptContext {
    /// The time of the signature, and of what the receiver says about later attempts.
    pub(in crate::areas::alerting) now: TimestampMs,
    /// The requests that it takes.
    pub(in crate::areas::alerting) lane: Lane,
}

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

/// Sends what is left of a message, and records in `progress` what was sent. Takes
/// [`limits::DELIVERY_TIMEOUT_MS`] at most.
pub(super) async fn deliver(
    alerting: &Alerting,
    config: &ChannelConfig,
    message_id: &str,
    notice: &Notice,
    progress: &Mutex<Progress>,
    context: AttemptContext,
) -> Outcome {
    let limit = Duration::from_millis(limits::DELIVERY_TIMEOUT_MS);
    let sending = send_all(alerting, config, message_id, notice, progress, context);
    let sent = timeout(limit, Box::pin(sending)).await;
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
    progress: &Mutex<Progress>,
    context: AttemptContext,
) -> Outcome {
    let settings = alerting.settings();
    let chat = settings.chat_url.get();
    let kind = config.channel_type();
    let request = match config {
        ChannelConfig::TeamChatA(config) => team_chat_a::request(config, chat, notice),
        ChannelConfig::TeamChatB(config) => team_chat_b::request(config, chat, notice),
        ChannelConfig::TeamChatC(config) => team_chat_c::request(config, chat, notice),
        ChannelConfig::Webhook(config) => webhook::request(config, message_id, notice, context.now),
        ChannelConfig::PagingA(config) => {
            let Some(base) = settings.paging_a_url.get() else {
                return unconfigured("notifications.paging_a_url");
            };
            let request = |alert: &NoticeAlert| paging_a::request(config, base, notice, alert);
            return send_events(alerting, kind, notice, progress, context, request).await;
        }
        ChannelConfig::PagingB(config) => {
            let base = config.api_url.as_ref().or(settings.paging_b_url.get());
            let Some(base) = base else { return unconfigured("notifications.paging_b_url") };
            let request = |alert: &NoticeAlert| paging_b::request(config, base, notice, alert);
            return send_events(alerting, kind, notice, progress, context, request).await;
        }
        ChannelConfig::Email(config) => {
            return send_mail(alerting, config, message_id, notice, progress).await;
        }
    };
    send(alerting, kind, request, context).await
}

/// Sends an event for each alert. A service that is busy is left alone until the next attempt.
async fn send_events(
    alerting: &Alerting,
    kind: ChannelType,
    notice: &Notice,
    progress: &Mutex<Progress>,
    context: AttemptContext,
    request: impl Fn(&NoticeAlert) -> OutboundParts,
) -> Outcome {
    let mut postponed = Postponed::default();
    for alert in &notice.alerts {
        if progress.lock().is_settled(&alert.id) {
            continue;
        }
        let outcome = send(alerting, kind, request(alert), context).await;
        let is_busy = matches!(outcome, Outcome::Retry { .. });
        progress.lock().record(&alert.id, outcome, &mut postponed);
        if is_busy {
            break;
        }
    }
    progress.lock().outcome(postponed)
}

async fn send(
    alerting: &Alerting,
    kind: ChannelType,
    parts: OutboundParts,
    context: AttemptContext,
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
        lane: context.lane,
        body_use: BodyUse::Keep(limits::RECEIVER_RESPONSE_BYTES_MAX),
        timeout: Duration::from_millis(limits::RECEIVER_TIMEOUT_MS),
    };
    match alerting.client().send(request).await {
        Ok(response) => {
            judge(kind, response.status.as_u16(), &response.headers, &response.body, context.now)
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
/// from being notified.
async fn send_mail(
    alerting: &Alerting,
    config: &EmailConfig,
    message_id: &str,
    notice: &Notice,
    progress: &Mutex<Progress>,
) -> Outcome {
    let Some(mailer) = alerting.mailer() else { return unconfigured("smtp.host") };
    let postponed = Mutex::new(Postponed::default());
    let send_one = async |recipient: &Address| {
        let part = recipient.to_string();
        if progress.lock().is_settled(&part) {
            return;
        }
        let one = EmailConfig { recipients: vec![recipient.clone()] };
        let outcome = match email::message(&one, mailer.sender(), message_id, notice) {
            Err(error) => failed(format!("the email cannot be written: {error}")),
            Ok(message) => match mailer.send(message).await {
                Ok(()) => Outcome::Delivered,
                Err(error) if error.is_temporary() => {
                    Outcome::Retry { after: None, reason: error.to_string() }
                }
                Err(error) => failed(error.to_string()),
            },
        };
        progress.lock().record(&part, outcome, &mut postponed.lock());
    };
    // All at once: the mailer limits how many connections it opens.
    join_all(config.recipients.iter().map(send_one)).await;
    progress.lock().outcome(postponed.into_inner())
}

fn unconfigured(setting: &str) -> Outcome {
    failed(format!("the server has no {setting}"))
}

fn failed(reason: String) -> Outcome {
    Outcome::Failed { reason, disables: false }
}
