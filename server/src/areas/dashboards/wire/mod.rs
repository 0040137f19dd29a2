//! The JSON of the area: request and response bodies. [`super::definition`] belongs to both.

mod answers;
mod requests;

pub(super) use answers::{
    DashboardView, ExportView, SummaryView, WidgetDataView, WidgetView, page,
};
pub(super) use requests::{
    CopyInput, DashboardInput, DashboardPatch, ImportInput, LayoutInput, WidgetInput, WidgetPatch,
};
