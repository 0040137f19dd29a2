//! The JSON of requests and responses of the area.

mod ids;
mod requests;
mod responses;

pub(super) use requests::{
    AssignInput, BulkInput, EmptyInput, IgnoreInput, MergeInput, ReportInput, ResolveInput,
};
pub(super) use responses::{
    BulkView, Detail, EventView, GroupItem, GroupStateView, Reported, SentryAnswer, SeriesView,
    frame_places,
};
