//! The JSON of the area: request and response bodies. [`super::definition`] belongs to both.

mod ids;
mod requests;
mod responses;

pub(super) use requests::{
    CopyInput, DashboardInput, DashboardPatch, ImportInput, LayoutInput, WidgetInput, WidgetPatch,
};
pub(super) use responses::{
    DashboardView, ExportView, SummaryView, WidgetDataView, WidgetView, page,
};
