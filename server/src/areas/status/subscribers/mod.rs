//! Subscribers of status pages: who gets mail about incidents and maintenance.
//!
//! A subscriber is a record (`store`), in memory as well (`table`). Whoever enters an address
//! gets the same response, whether it is known or not; the address gets mail only after its owner
//! has pressed the button of the page that the first mail links to, since mail scanners follow
//! links. Each mail has a link that ends the subscription at once (RFC 8058). Mails are written
//! (`mails`) and sent (`work`) by jobs, so none is lost when the server ends. A sweep enqueues them
//! (`enqueue`), a limited number at a time, and remembers how far it has come. What strangers cause
//! is limited apart: the addresses that they enter (`pace`, `space`), and the mails to these.

mod enqueue;
#[cfg(test)]
mod examples;
mod mails;
mod model;
mod ops;
mod pace;
mod response;
mod routes;
mod space;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod token;
mod work;

pub(super) use enqueue::enqueue_mails;
pub(super) use ops::{Subscribing, confirm, expire, subscribe, unsubscribe};
pub(super) use pace::SubscriptionPace;
pub use routes::SUBSCRIBER_ROUTES;
pub(super) use table::SubscriberTable;
pub(super) use token::SubscriberToken;
pub(super) use work::add_work;
