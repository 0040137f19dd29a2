//! Subscribers for tests.

use telltale_engine::TimestampMs;

use super::model::Subscriber;
use super::token::TokenSecret;
use crate::areas::status::ids::{PageId, SubscriberId};

/// Returns a subscriber that has not confirmed its address and was asked for it once.
pub(super) fn subscriber(page: u128, id: u128) -> Subscriber {
    Subscriber {
        id: SubscriberId(id),
        page: PageId(page),
        email: format!("user{id}@example.com"),
        confirm: TokenSecret::new().unwrap(),
        unsubscribe: TokenSecret::new().unwrap(),
        created_at: TimestampMs(0),
        confirmed_at: None,
        asked_at: TimestampMs(0),
        asked: 1,
        is_asking: false,
        bounces: 0,
        bounced_at: None,
        last_notice: None,
    }
}
