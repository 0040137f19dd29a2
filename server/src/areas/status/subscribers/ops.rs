//! The operations on subscribers. All of them block.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use lettre::Address;
use telltale_engine::TimestampMs;

use super::model::{Subscriber, SubscriberChange};
use super::token::{SubscriberToken, TokenSecret};
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::pages::Page;
use crate::areas::status::{documents, limits};
use crate::platform::fields::Invalid;

/// An address that somebody has entered.
#[derive(Debug)]
pub(in crate::areas::status) struct Subscribing {
    pub(in crate::areas::status) page: PageId,
    pub(in crate::areas::status) email: String,
    /// Where the request came from, if it came over the network.
    pub(in crate::areas::status) from: Option<IpAddr>,
}

/// Stores an address, for which a mail that asks for confirmation is enqueued later. What becomes
/// of it is the same for whoever asked, whether the address was known or not, and takes as long.
pub(in crate::areas::status) fn subscribe(
    app: &App,
    subscribing: Subscribing,
) -> Result<(), StatusError> {
    let Subscribing { page, email, from } = subscribing;
    let email = read_address(&email)?;
    let status = app.status();
    if let Some(from) = from {
        status.subscription_pace().count_network(from)?;
    }
    status.subscription_pace().count_address(&email)?;
    let new = new_subscriber(app, page, email.clone())?;
    status.subscribers().enter(page, &email, |found| match found {
        Some(known) => known.asked_again(new.created_at),
        None => new,
    })
}

/// Confirms a subscription. Returns whether the token was one of a page's subscribers.
pub(in crate::areas::status) fn confirm(
    app: &App,
    page: PageId,
    token: &SubscriberToken,
) -> Result<bool, StatusError> {
    let now = app.now();
    let confirm = |found: &Subscriber| token.has(&found.confirm).then(|| found.confirmed(now));
    Ok(app.status().subscribers().change((page, token.id), confirm)?)
}

/// Ends a subscription. It may have ended before.
pub(in crate::areas::status) fn unsubscribe(
    app: &App,
    page: PageId,
    token: &SubscriberToken,
) -> Result<(), StatusError> {
    let end =
        |found: &Subscriber| token.has(&found.unsubscribe).then_some(SubscriberChange::Remove);
    app.status().subscribers().change((page, token.id), end)?;
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
    let end = |_: &Subscriber| Some(SubscriberChange::Remove);
    match app.status().subscribers().change((page, id), end)? {
        true => Ok(()),
        false => Err(StatusError::missing_subscriber(id)),
    }
}

/// Deletes those that were never confirmed, and those of pages that are deleted. A page that cannot
/// be read, or of which that is not known, keeps its subscribers.
pub(in crate::areas::status) fn expire(app: &App) -> Result<(), StatusError> {
    let now = app.engine().trusted_time().expiry;
    let before = TimestampMs(now.0.saturating_sub(limits::UNCONFIRMED_KEPT_MS));
    let table = app.status().subscribers();
    let (mut deleted, mut known) = (BTreeSet::new(), Ok(()));
    for page in table.pages() {
        match documents::contains::<Page>(app.engine(), &page.text()) {
            Ok(true) => {}
            Ok(false) => drop(deleted.insert(page)),
            Err(error) => known = known.and(Err(error)),
        }
    }
    table.expire(before, &deleted)?;
    known
}

fn new_subscriber(app: &App, page: PageId, email: String) -> Result<Subscriber, StatusError> {
    let secret = || TokenSecret::new().map_err(StatusError::Randomness);
    let now = app.now();
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
        is_asking: true,
        bounces: 0,
        bounced_at: None,
        last_notice: None,
    })
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
