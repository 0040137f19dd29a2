//! The messages of each type of channel: a notification in, a request or an email out.
//!
//! Limits of lengths are those of the receivers. Strings are cut after they are escaped, so that
//! escaping does not exceed a limit and a cut does not divide an escape sequence.

mod cut;
pub mod email;
mod labels;
mod markdown;
mod outbound_parts;
pub mod paging_a;
pub mod paging_b;
mod receiver_key;
pub mod team_chat_a;
pub mod team_chat_b;
pub mod team_chat_c;
pub mod webhook;

pub use outbound_parts::OutboundParts;
