//! The JSON of subscribers.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Subscriber;
use crate::platform::time::IsoTime;

/// The subscribers of a status page, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SubscriberList")]
pub(super) struct SubscriberListView {
    subscribers: Vec<SubscriberView>,
}

/// A subscriber of a status page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Subscriber")]
struct SubscriberView {
    id: String,
    email: String,
    /// Whether the owner of the address has confirmed it.
    confirmed: bool,
    confirmed_at: Option<IsoTime>,
    created_at: IsoTime,
}

impl SubscriberListView {
    pub(super) fn new<'a>(subscribers: impl Iterator<Item = &'a Subscriber>) -> Self {
        Self { subscribers: subscribers.map(SubscriberView::from).collect() }
    }
}

impl From<&Subscriber> for SubscriberView {
    fn from(subscriber: &Subscriber) -> Self {
        Self {
            id: subscriber.id.text(),
            email: subscriber.email.clone(),
            confirmed: subscriber.confirmed_at.is_some(),
            confirmed_at: subscriber.confirmed_at.map(IsoTime),
            created_at: IsoTime(subscriber.created_at),
        }
    }
}
