//! A subscriber of a status page, and what becomes of it.

use telltale_engine::TimestampMs;

use super::token::TokenSecret;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::limits;

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
    /// When the last mail was requested that asks for confirmation.
    pub(super) asked_at: TimestampMs,
    /// How many such mails were requested.
    pub(super) asked: u32,
    /// Whether the last of them is not enqueued yet.
    pub(super) is_asking: bool,
    /// How many times in a row the address was refused, as they are counted.
    pub(super) bounces: u32,
    /// When the last of these was counted.
    pub(super) bounced_at: Option<TimestampMs>,
    /// The digest of the notice that was mailed last. Not stored.
    pub(super) last_notice: Option<u64>,
}

/// What an operation makes of a subscriber.
#[derive(Debug)]
pub(super) enum SubscriberChange {
    /// It stays as it is.
    Keep,
    /// It is replaced.
    Store(Box<Subscriber>),
    /// The subscription ends.
    Remove,
}

impl Subscriber {
    /// Returns the id of the page and its own, under which it is stored.
    pub(super) fn key(&self) -> (PageId, SubscriberId) {
        (self.page, self.id)
    }

    /// Returns the subscriber after its address was entered again: another mail asks for
    /// confirmation if enough time has passed since the last one.
    pub(super) fn asked_again(&self, now: TimestampMs) -> Self {
        // After a wall clock was set back, the last mail seems to be in the future.
        let waited = now.0.abs_diff(self.asked_at.0);
        let may_ask = self.confirmed_at.is_none()
            && !self.is_asking
            && self.asked < limits::CONFIRMATIONS_MAX
            && waited >= limits::CONFIRMATION_PAUSE_MS.unsigned_abs();
        if !may_ask {
            return self.clone();
        }
        Self { asked: self.asked + 1, asked_at: now, is_asking: true, ..self.clone() }
    }

    /// Returns what becomes of it when the owner of the address confirms it.
    pub(super) fn confirmed(&self, now: TimestampMs) -> SubscriberChange {
        if self.confirmed_at.is_some() {
            return SubscriberChange::Keep;
        }
        let confirmed_at = Some(now);
        SubscriberChange::Store(Box::new(Self { confirmed_at, is_asking: false, ..self.clone() }))
    }

    /// Returns what becomes of it when the mail server refuses the address for good. Refusals of
    /// one day count once: a mail server that is set up wrongly refuses all addresses, and must not
    /// end all subscriptions before anybody notices.
    pub(super) fn bounced(&self, now: TimestampMs) -> SubscriberChange {
        let is_counted = |at: TimestampMs| now.0.saturating_sub(at.0) < limits::BOUNCE_PAUSE_MS;
        if self.confirmed_at.is_none() || self.bounced_at.is_some_and(is_counted) {
            return SubscriberChange::Keep;
        }
        let bounces = self.bounces.saturating_add(1);
        if bounces >= limits::BOUNCES_MAX {
            return SubscriberChange::Remove;
        }
        SubscriberChange::Store(Box::new(Self { bounces, bounced_at: Some(now), ..self.clone() }))
    }

    /// Returns the address as it is compared with others: mail servers ignore case in practice.
    pub(super) fn address_key(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::examples::subscriber;
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    fn stored(change: SubscriberChange) -> Subscriber {
        match change {
            SubscriberChange::Store(subscriber) => *subscriber,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_address_is_asked_for_confirmation_three_times_with_pauses() {
        let pause = limits::CONFIRMATION_PAUSE_MS;
        let first = Subscriber { asked: 1, ..subscriber(1, 1) };
        assert_eq!(first.asked_again(TimestampMs(pause - 1)), first);
        let second = first.asked_again(TimestampMs(pause));
        assert_eq!((second.asked, second.is_asking), (2, true));
        assert_eq!(second.asked_again(TimestampMs(5 * pause)), second, "one is on its way");
        let sent = Subscriber { is_asking: false, ..second };
        let third = sent.asked_again(TimestampMs(-pause));
        assert_eq!(third.asked, 3, "the clock was set back");
        let sent = Subscriber { is_asking: false, ..third };
        assert_eq!(sent.asked_again(TimestampMs(DAY_MS)), sent);
        let confirmed = stored(first.confirmed(TimestampMs(1)));
        assert_eq!(confirmed.asked_again(TimestampMs(DAY_MS)), confirmed);
    }

    #[test]
    fn a_subscription_ends_when_its_address_is_refused_on_three_days() {
        let confirmed = stored(subscriber(1, 1).confirmed(TimestampMs(0)));
        let first = stored(confirmed.bounced(TimestampMs(0)));
        assert!(matches!(first.bounced(TimestampMs(DAY_MS - 1)), SubscriberChange::Keep));
        let second = stored(first.bounced(TimestampMs(DAY_MS)));
        assert_eq!(second.bounces, 2);
        assert!(matches!(second.bounced(TimestampMs(2 * DAY_MS)), SubscriberChange::Remove));
        let unconfirmed = subscriber(1, 2).bounced(TimestampMs(0));
        assert!(matches!(unconfirmed, SubscriberChange::Keep));
    }
}
