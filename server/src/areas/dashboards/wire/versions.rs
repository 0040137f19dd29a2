//! The bodies of responses about versions, annotations and previews.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use telltale_engine::{Event, ResultMemory, TimeRange};

use super::responses::{DashboardView, DataView};
use crate::areas::dashboards::annotations::Annotations;
use crate::areas::dashboards::data::Rendered;
use crate::areas::dashboards::definition::WidgetType;
use crate::areas::dashboards::model::{Dashboard, VersionNumber, VersionSummary};
use crate::http::{ApiError, ApiResult, Paging};
use crate::platform::ids;
use crate::platform::json::Plain;
use crate::platform::time::IsoTime;

/// A version of a dashboard in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardVersionSummary")]
pub(in crate::areas::dashboards) struct VersionSummaryView {
    version: u64,
    name: String,
    saved_at: IsoTime,
    /// The user who saved it; null if that is not known.
    saved_by: Option<String>,
    widgets_count: usize,
    /// Whether it is what the dashboard is now.
    current: bool,
}

/// The events of the overlays of a dashboard.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardAnnotations")]
pub(in crate::areas::dashboards) struct AnnotationsView {
    /// The start of the range, inclusive.
    from: IsoTime,
    /// The end of the range, exclusive.
    to: IsoTime,
    annotations: Vec<AnnotationView>,
    /// The number of older events that are left out, because an overlay has more than 200.
    left_out: u64,
    #[serde(skip)]
    _memory: Vec<ResultMemory>,
}

/// An event that is drawn over graphs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardAnnotation")]
struct AnnotationView {
    /// The position of its overlay in `overlays`.
    overlay: usize,
    id: String,
    name: String,
    timestamp: IsoTime,
    user_id: Option<String>,
    value: Option<Plain>,
    /// As in the list of events.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    properties: Box<RawValue>,
    tags: BTreeMap<String, String>,
}

/// The values of a widget that is not stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetPreview")]
pub(in crate::areas::dashboards) struct WidgetPreviewView {
    r#type: WidgetType,
    /// The start of the range, inclusive.
    from: IsoTime,
    /// The end of the range, exclusive.
    to: IsoTime,
    #[serde(flatten)]
    data: DataView,
}

impl VersionSummaryView {
    /// Returns one page of the versions, of which the first one is the current one.
    pub(in crate::areas::dashboards) fn page(
        all: Vec<VersionSummary>,
        paging: Paging,
    ) -> crate::http::Page<Self> {
        let meta = paging.meta(all.len());
        let view = |(at, version): (usize, VersionSummary)| Self {
            version: version.number.0,
            name: version.name,
            saved_at: IsoTime(version.saved_at),
            saved_by: version.saved_by,
            widgets_count: version.widgets_count,
            current: at == 0,
        };
        let page = all.into_iter().enumerate().skip(paging.offset).take(paging.limit);
        crate::http::Page { data: page.map(view).collect(), meta }
    }
}

impl DashboardView {
    /// Converts a version of a dashboard, without the values of its widgets.
    pub(in crate::areas::dashboards) fn of_version(
        dashboard: &Dashboard,
        version: VersionNumber,
    ) -> Self {
        Self::plain(dashboard).at(version.0)
    }
}

impl AnnotationsView {
    /// Fails if the stored properties of an event are not JSON.
    pub(in crate::areas::dashboards) fn new(
        range: TimeRange,
        found: Annotations,
    ) -> ApiResult<Self> {
        let Annotations { events, left_out, memory } = found;
        let annotations = events.into_iter().map(|(at, event)| AnnotationView::new(at, event));
        Ok(Self {
            from: IsoTime(range.start),
            to: IsoTime(range.end),
            annotations: annotations.collect::<ApiResult<_>>()?,
            left_out,
            _memory: memory,
        })
    }
}

impl AnnotationView {
    fn new(overlay: usize, event: Event) -> ApiResult<Self> {
        let properties = event.properties.unwrap_or_else(|| "{}".to_owned());
        Ok(Self {
            overlay,
            id: ids::prefixed("evt_", event.id.0),
            name: event.name.to_string(),
            timestamp: IsoTime(event.time),
            user_id: event.user,
            value: event.value.map(Plain),
            properties: RawValue::from_string(properties).map_err(ApiError::internal)?,
            tags: event.tags.into_iter().collect(),
        })
    }
}

impl WidgetPreviewView {
    pub(in crate::areas::dashboards) fn new(
        r#type: WidgetType,
        range: TimeRange,
        rendered: Rendered,
    ) -> Self {
        Self { r#type, from: IsoTime(range.start), to: IsoTime(range.end), data: rendered.into() }
    }
}
