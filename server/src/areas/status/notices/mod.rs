//! What the subscribers of a status page are notified of.
//!
//! A notice is recorded in the transaction of the change that it is about, as it is to be read
//! later: nobody who should get it is left out because the server ended in between. Mails are
//! enqueued afterwards, and it is kept until these are sent or given up. A notice that nobody would
//! get is not recorded.

mod model;
mod ops;
mod space;
mod store;
#[cfg(test)]
mod tests;

pub(super) use model::{Notice, NoticeText, PendingNotice};
pub(super) use ops::{are_wanted, enqueued_until, finish, full_pages, get, pending, record, trim};
pub(super) use space::NoticeSpace;
