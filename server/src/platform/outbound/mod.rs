//! Requests that the server sends to addresses which its users chose: webhooks, monitors, pages,
//! repositories.
//!
//! A user must not reach through the server what only the server can reach: its loopback
//! interface, the private network, the metadata service of a cloud. The address that is dialled is
//! therefore the one that was checked: `target` checks the text, `resolve` every address of the
//! name by the `policy`, `dialler` dials one of these, and `client` sends requests through it,
//! those of redirects too.

mod body;
mod cidr;
mod client;
mod dialler;
mod error;
mod host_slots;
mod policy;
mod request;
mod resolve;
mod settings;
mod special;
mod target;
mod user_headers;

pub use cidr::Cidr;
#[cfg(test)]
pub(crate) use client::REQUESTS_PER_HOST;
pub use client::{OutboundClient, OutboundSlot};
pub use dialler::OutboundDialler;
pub use error::OutboundError;
pub use policy::{OutboundPolicy, SpecialAddress};
pub use request::{BodyUse, Lane, OutboundRequest, OutboundResponse, Redirects};
pub use settings::OutboundSettings;
pub use special::{SpecialRange, special_range};
pub use target::{OutboundHost, OutboundHostError, OutboundUrl, OutboundUrlError};
pub use user_headers::{UserHeader, user_headers};

#[cfg(test)]
mod client_tests;
