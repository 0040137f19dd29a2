//! The operations on subscribers. All but `subscribe` block.

use std::net::IpAddr;
use std::sync::Arc;

use lettre::Address;
use telltale_engine::TimestampMs;

use super::model::Subscriber;
use super::token::{SubscriberToken, TokenSecret};
use super::work;
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::limits;
use crate::platform::fields::Invalid;

/// An address that somebody has entered.
#[derive(Debug)]
pub(in crate::areas::status) struct Subscribing {
    pub(in crate::areas::status) page: PageId,
    pub(in crate::areas::status) email: String,
    /// Where the request came from, if it came over the network.
    pub(in crate::areas::status) from: Option<IpAddr>,
}

/// Stores an address and sends it a mail that asks for confirmation. What became of it is the same
/// for whoever asked, whether the address was known or not. Blocks.
pub(in crate::areas::status) fn subscribe(
    app: &App,
    subscribing: Subscribing,
) -> Result<(), StatusError> {
    let Subscribing { page, email, from } = subscribing;
    let email = read_address(&email)?;
    let status = app.status();
    if let Some(from) = from {
        status.subscription_pace().count(from)?;
    }
    let now = app.now();
    let subscriber = match status.subscribers().find(page, &email) {
        None => new_subscriber(app, page, email, now)?,
        Some(known) => match asked_again(&known, now) {
            Some(again) => again,
            None => return Ok(()),
        },
    };
    let id = subscriber.id;
    status.subscribers().put(subscriber)?;
    work::enqueue_confirmation(app, page, id)
}

/// Confirms a subscription. Returns whether the token was one of a page's subscribers.
pub(in crate::areas::status) fn confirm(
    app: &App,
    page: PageId,
    token: &SubscriberToken,
) -> Result<bool, StatusError> {
    let table = app.status().subscribers();
    let is_of = |found: &Arc<Subscriber>| found.page == page && token.has(&found.confirm);
    let Some(found) = table.get(token.id).filter(is_of) else { return Ok(false) };
    if found.confirmed_at.is_none() {
        let confirmed_at = Some(app.now());
        table.put(Subscriber { confirmed_at, ..(*found).clone() })?;
    }
    Ok(true)
}

/// Ends a subscription. It may have ended before.
pub(in crate::areas::status) fn unsubscribe(
    app: &App,
    page: PageId,
    token: &SubscriberToken,
) -> Result<(), StatusError> {
    let table = app.status().subscribers();
    let is_of = |found: &Arc<Subscriber>| found.page == page && token.has(&found.unsubscribe);
    if let Some(found) = table.get(token.id).filter(is_of) {
        table.remove(found.id)?;
    }
    Ok(())
}

/// Returns the subscribers of a page, newest first.
pub(super) fn list(app: &App, page: PageId) -> Result<Vec<Arc<Subscriber>>, StatusError> {
    app.status().pages(app)?.page(page)?;
    Ok(app.status().subscribers().of_page(page))
}

/// Deletes a subscriber of a page.
pub(super) fn delete(app: &App, page: PageId, id: SubscriberId) -> Result<(), StatusError> {
    app.status().pages(app)?.page(page)?;
    let table = app.status().subscribers();
    let missing = || StatusError::missing_subscriber(id);
    table.get(id).filter(|found| found.page == page).ok_or_else(missing)?;
    if table.remove(id)? { Ok(()) } else { Err(missing()) }
}

/// Deletes those that were never confirmed, and those of pages that are deleted.
pub(in crate::areas::status) fn expire(app: &App, now: TimestampMs) -> Result<(), StatusError> {
    let before = TimestampMs(now.0.saturating_sub(limits::UNCONFIRMED_KEPT_MS));
    let directory = app.status().pages(app)?;
    let is_deleted = |page: PageId| directory.page(page).is_err();
    Ok(app.status().subscribers().expire(before, is_deleted)?)
}

fn new_subscriber(
    app: &App,
    page: PageId,
    email: String,
    now: TimestampMs,
) -> Result<Subscriber, StatusError> {
    let counts = app.status().subscribers().counts();
    if counts.all >= limits::SUBSCRIBERS_MAX || counts.unconfirmed >= limits::UNCONFIRMED_MAX {
        tracing::warn!(
            all = counts.all,
            unconfirmed = counts.unconfirmed,
            "a subscription to a status page was refused: there are too many"
        );
        return Err(StatusError::Busy("too many subscriptions wait for confirmation"));
    }
    let secret = || TokenSecret::new().map_err(StatusError::Randomness);
    Ok(Subscriber {
        id: SubscriberId(app.new_number()),
        page,
        email,
        confirm: secret()?,
        unsubscribe: secret()?,
        created_at: now,
        confirmed_at: None,
        asked_at: now,
        asked: 1,
    })
}

/// Returns a subscriber whose address may get another mail that asks for confirmation.
fn asked_again(known: &Subscriber, now: TimestampMs) -> Option<Subscriber> {
    let waited = now.0.saturating_sub(known.asked_at.0);
    let may_ask = known.confirmed_at.is_none()
        && known.asked < limits::CONFIRMATIONS_MAX
        && waited >= limits::CONFIRMATION_PAUSE_MS;
    may_ask.then(|| Subscriber { asked: known.asked + 1, asked_at: now, ..known.clone() })
}

/// Validates an address. One with line breaks or other control characters is none.
fn read_address(email: &str) -> Result<String, Invalid> {
    let invalid = || Invalid::field("email", "must be an email address such as ann@example.com");
    let email = email.trim_matches(' ');
    let is_plain = email.len() <= limits::SUBSCRIBER_EMAIL_CHARS_MAX && email.is_ascii();
    let parsed: Option<Address> = email.parse().ok();
    match parsed {
        Some(address) if is_plain && !email.chars().any(|c| c.is_control() || c == ' ') => {
            Ok(address.to_string())
        }
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_cannot_add_headers_or_recipients() {
        for email in ["ann@example.com", " ann@example.com ", "a.b+c@sub.example.com"] {
            assert_eq!(read_address(email).unwrap(), email.trim());
        }
        let long = format!("{}@example.com", "a".repeat(250));
        for email in [
            "",
            "ann",
            "@example.com",
            "ann@",
            "ann@example.com\r\nBcc: bob@example.com",
            "ann@example.com\n",
            "ann@example.com,bob@example.com",
            "ann@exam ple.com",
            "Ann <ann@example.com>",
            "ann@example.com\0",
            "änn@example.com",
            &long,
        ] {
            assert!(read_address(email).is_err(), "{email:?}");
        }
    }
}
