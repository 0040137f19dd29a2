//! Object stores: how one is opened, what is required of it, and wrappers that measure and fault.

mod aged;
mod confirmed;
mod connect;
mod faulty;
mod metered;
mod probe;

pub(crate) use aged::AgedStore;
pub(crate) use confirmed::ConfirmedStore;
pub(crate) use connect::{connect, delete_below, deleted_wal};
pub(crate) use faulty::{Faults, FaultyStore};
pub(crate) use metered::{MeteredStore, Part};
pub(crate) use probe::probe;
