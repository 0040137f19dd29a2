//! A subscriber of a status page.

use telltale_engine::TimestampMs;

use super::token::TokenSecret;
use crate::areas::status::ids::{PageId, SubscriberId};

/// A subscriber of a status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subscriber {
    pub(super) id: SubscriberId,
    pub(super) page: PageId,
    /// The address as it was entered.
    pub(super) email: String,
    /// Proves that the owner of the address confirms it.
    pub(super) confirm: TokenSecret,
    /// Proves that a reader of the mails ends the subscription.
    pub(super) unsubscribe: TokenSecret,
    pub(super) created_at: TimestampMs,
    /// When the owner of the address confirmed it.
    pub(super) confirmed_at: Option<TimestampMs>,
    /// When the last mail was sent that asks for confirmation.
    pub(super) asked_at: TimestampMs,
    /// How many such mails were sent.
    pub(super) asked: u32,
}

impl Subscriber {
    /// Returns the address as it is compared with others: mail servers ignore case in practice.
    pub(super) fn key(&self) -> String {
        address_key(&self.email)
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + 3 * self.email.len() + 160
    }
}

/// Returns an address as it is compared with others.
pub(super) fn address_key(email: &str) -> String {
    email.to_lowercase()
}
