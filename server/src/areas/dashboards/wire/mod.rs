//! The JSON of the area: requests in, answers out. What both share is [`super::definition`].

mod answers;
mod requests;

pub(super) use answers::{
    DashboardView, ExportView, SummaryView, WidgetDataView, WidgetView, page,
};
pub(super) use requests::{
    CopyInput, DashboardInput, DashboardPatch, ImportInput, LayoutInput, WidgetInput, WidgetPatch,
};
