//! The JSON of requests and responses of the area.

mod answers;
mod requests;

pub(super) use answers::{
    BulkView, Detail, EventView, GroupItem, GroupStateView, Reported, SentryAnswer, SeriesView,
};
pub(super) use requests::{
    AssignInput, BulkInput, EmptyInput, IgnoreInput, MergeInput, ReportInput, ResolveInput,
};
