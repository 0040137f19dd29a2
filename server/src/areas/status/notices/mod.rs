//! What the subscribers of a status page are notified of.
//!
//! A notice is recorded in the transaction of the change that it is about, as it is to be read
//! later: nobody who should get it is left out because the server ended in between. Mails are
//! enqueued afterwards.

mod model;
mod ops;
mod store;

pub(super) use model::{Notice, NoticeText};
pub(super) use ops::{enqueued, get, is_recorded, pending, record, trim};
