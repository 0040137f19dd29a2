//! The JSON of requests and responses of the area.

mod activity;
mod ids;
mod occurrences;
mod requests;
mod responses;

pub(super) use activity::{ActivityView, CommentInput};
pub(super) use occurrences::{OccurrenceView, TagsView};
pub(super) use requests::{
    AssignInput, BulkInput, EmptyInput, IgnoreInput, MergeInput, ReportInput, ResolveInput,
};
pub(super) use responses::{
    BulkView, Detail, EventView, GroupItem, GroupStateView, Reported, SentryAnswer, SeriesView,
    frame_places,
};
