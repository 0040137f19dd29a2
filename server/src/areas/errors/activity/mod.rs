//! The activity of groups: who changed what and when, and what people wrote about it.
//!
//! An entry is written in the batch of the change that it is about, and deleted with its group.
//! Entries of a group that is merged into another one are shown with that one. The newest entries
//! of each group are kept: a comment or the change of one group that leaves a surplus deletes the
//! others, and so does a sweep.

mod model;
mod store;

pub(super) use model::{Action, Activity, ActivityId};
pub(super) use store::ActivityStore;
