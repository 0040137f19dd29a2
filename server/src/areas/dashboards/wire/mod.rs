//! The JSON of the area: request and response bodies. [`super::definition`] belongs to both.

mod ids;
mod lines;
mod replacement;
mod requests;
mod responses;
mod versions;

pub(super) use replacement::{PreviewInput, ReplacementInput, RestoreInput};
pub(super) use requests::{
    CopyInput, DashboardInput, DashboardPatch, ImportInput, LayoutInput, WidgetInput, WidgetPatch,
};
pub(super) use responses::{
    DashboardView, ExportView, SummaryView, WidgetDataView, WidgetView, page,
};
pub(super) use versions::{AnnotationsView, VersionSummaryView, WidgetPreviewView};
