//! The JSON of status pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::logo::LogoUrl;
use super::model::{Branding, Color, Component, Page, PageChange, PageDraft};
use super::ops::{CurrentComponent, CurrentPage};
use super::subdomain::Subdomain;
use crate::areas::status::fields::{self, MONITOR_ID, MonitorIds, NO_MONITOR};
use crate::areas::status::ids::MonitorId;
use crate::areas::status::incidents::IncidentView;
use crate::areas::status::limits;
use crate::areas::status::public_status::{ComponentStatus, PageStatus};
use crate::http::ApiError;
use crate::platform::fields::Invalid;
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A subdomain, for the OpenAPI document.
const SUBDOMAIN: &str = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";
/// A color, for the OpenAPI document.
const COLOR: &str = "^#[0-9A-Fa-f]{6}$";
/// Characters of a domain: the most that DNS has.
const DOMAIN_CHARS: usize = 253;

/// A new status page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StatusPageInput")]
pub(super) struct PageInput {
    #[schemars(required, length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    /// Unique. Some names, such as `www`, are reserved.
    #[schemars(required, regex(pattern = SUBDOMAIN))]
    subdomain: Option<String>,
    /// Unique. It must lead to the server.
    #[schemars(length(max = DOMAIN_CHARS))]
    custom_domain: Option<String>,
    /// The ids of the monitors that it shows, in this order.
    #[schemars(length(max = limits::PAGE_MONITORS_MAX), inner(regex(pattern = MONITOR_ID)))]
    monitors: Option<MonitorIds>,
    branding: Option<BrandingInput>,
}

/// A change of a status page; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StatusPageChange")]
pub(super) struct PagePut {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// Unique. Some names, such as `www`, are reserved.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", regex(pattern = SUBDOMAIN))]
    subdomain: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = DOMAIN_CHARS))]
    custom_domain: Option<Option<String>>,
    /// `null` removes all of it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<BrandingInput>")]
    branding: Option<Option<BrandingInput>>,
}

/// How a status page looks. In a change, absent fields are unchanged, and `null` removes one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StatusPageBrandingInput")]
struct BrandingInput {
    /// An absolute URL of `http` or `https`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::LOGO_URL_CHARS_MAX))]
    logo_url: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", regex(pattern = COLOR))]
    primary_color: Option<Option<String>>,
}

/// A monitor that a status page shows.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StatusPageMonitorInput")]
pub(super) struct ComponentInput {
    #[schemars(required, regex(pattern = MONITOR_ID))]
    monitor_id: Option<String>,
    /// The name that visitors see. Defaults to that of the monitor.
    #[schemars(length(max = limits::COMPONENT_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    display_name: Option<String>,
    /// The name of the group that it is shown in. Defaults to none.
    #[schemars(length(max = limits::COMPONENT_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    group: Option<String>,
}

/// The status pages, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StatusPageList")]
pub(super) struct PageListView {
    status_pages: Vec<PageSummaryView>,
}

/// A status page in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StatusPageSummary")]
struct PageSummaryView {
    id: String,
    name: String,
    subdomain: String,
    custom_domain: Option<String>,
    #[schemars(with = "PageStatusName")]
    status: &'static str,
    monitors_count: usize,
}

/// A status page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StatusPage")]
pub(super) struct PageView {
    id: String,
    name: String,
    subdomain: String,
    custom_domain: Option<String>,
    /// Where visitors find it; a path if the server does not know its own address.
    url: String,
    #[schemars(with = "PageStatusName")]
    status: &'static str,
    /// In the order in which they are shown.
    monitors: Vec<ComponentView>,
    /// The incidents that are not resolved, newest first.
    active_incidents: Vec<IncidentView>,
    branding: BrandingView,
    created_by: String,
    created_at: IsoTime,
}

/// The status of a status page.
#[derive(JsonSchema)]
#[schemars(rename = "StatusPageStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum PageStatusName {
    Operational,
    UnderMaintenance,
    DegradedPerformance,
    PartialOutage,
    MajorOutage,
}

/// A monitor on a status page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StatusPageMonitor")]
struct ComponentView {
    id: String,
    /// The name of the monitor.
    name: String,
    /// The name that visitors see; null if it is that of the monitor.
    display_name: Option<String>,
    group: Option<String>,
    /// The status of the monitor, or `under_maintenance`.
    #[schemars(with = "ComponentStateName")]
    status: &'static str,
    /// The share of the observed time of the last 90 days in which it was up, in percent; null if
    /// nothing was observed.
    uptime_90d: Option<f64>,
}

/// The status of a monitor on a status page.
#[derive(JsonSchema)]
#[schemars(rename = "StatusPageMonitorStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum ComponentStateName {
    Pending,
    Up,
    Degraded,
    Down,
    Paused,
    UnderMaintenance,
}

/// How a status page looks.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StatusPageBranding")]
struct BrandingView {
    logo_url: Option<String>,
    primary_color: Option<String>,
}

impl PageInput {
    pub(super) fn into_draft(self) -> Result<PageDraft, ApiError> {
        let name = fields::name(self.name)?;
        let branding = self.branding.unwrap_or_default();
        Ok(PageDraft {
            name,
            subdomain: read_subdomain(self.subdomain)?,
            custom_domain: self.custom_domain,
            branding: Branding {
                logo_url: branding.logo_url.flatten().map(read_logo).transpose()?,
                primary_color: branding.primary_color.flatten().map(read_color).transpose()?,
            },
            monitors: fields::monitors(self.monitors)?,
        })
    }
}

impl PagePut {
    pub(super) fn into_change(self) -> Result<PageChange, ApiError> {
        let (logo_url, primary_color) = match self.branding {
            None => (None, None),
            Some(None) => (Some(None), Some(None)),
            Some(Some(BrandingInput { logo_url, primary_color })) => (logo_url, primary_color),
        };
        Ok(PageChange {
            name: self.name.map(fields::name).transpose()?,
            subdomain: self.subdomain.map(read_subdomain).transpose()?,
            custom_domain: self.custom_domain,
            logo_url: logo_url.map(|sent| sent.map(read_logo).transpose()).transpose()?,
            primary_color: primary_color
                .map(|sent| sent.map(read_color).transpose())
                .transpose()?,
        })
    }
}

impl ComponentInput {
    pub(super) fn into_component(self) -> Result<Component, ApiError> {
        let max = limits::COMPONENT_NAME_CHARS_MAX;
        let line = |field, sent: Option<String>| {
            sent.map(|text| fields::line(field, text, max)).transpose()
        };
        let id = self.monitor_id.ok_or_else(|| Invalid::missing("monitor_id"))?;
        let unknown = || Invalid::field("monitor_id", NO_MONITOR);
        Ok(Component {
            monitor_id: MonitorId::parse(&id).ok_or_else(unknown)?,
            display_name: line("display_name", self.display_name)?,
            group: line("group", self.group)?,
        })
    }
}

fn read_subdomain(sent: Option<String>) -> Result<Subdomain, Invalid> {
    let text = sent.ok_or_else(|| Invalid::missing("subdomain"))?;
    Subdomain::parse(&text).map_err(|expected| Invalid::field("subdomain", expected))
}

fn read_logo(text: String) -> Result<LogoUrl, Invalid> {
    LogoUrl::parse(&text).map_err(|expected| Invalid::field("branding.logo_url", expected))
}

fn read_color(text: String) -> Result<Color, Invalid> {
    let expected = "must be a color such as #4f46e5";
    Color::parse(&text).ok_or_else(|| Invalid::field("branding.primary_color", expected))
}

impl PageListView {
    pub(super) fn new<'a>(pages: impl IntoIterator<Item = (&'a Page, PageStatus)>) -> Self {
        let view = |(page, status): (&Page, PageStatus)| PageSummaryView {
            id: page.id.text(),
            name: page.name.clone(),
            subdomain: page.subdomain.as_str().to_owned(),
            custom_domain: page.custom_domain.clone(),
            status: status.as_str(),
            monitors_count: page.components.len(),
        };
        Self { status_pages: pages.into_iter().map(view).collect() }
    }
}

impl From<&CurrentPage> for PageView {
    fn from(current: &CurrentPage) -> Self {
        let page = &current.page;
        Self {
            id: page.id.text(),
            name: page.name.clone(),
            subdomain: page.subdomain.as_str().to_owned(),
            custom_domain: page.custom_domain.clone(),
            url: current.url.clone(),
            status: current.status.as_str(),
            monitors: current.components.iter().map(ComponentView::from).collect(),
            active_incidents: current
                .incidents
                .iter()
                .map(|incident| IncidentView::from(incident.as_ref()))
                .collect(),
            branding: BrandingView::from(&page.branding),
            created_by: page.created_by.clone(),
            created_at: IsoTime(page.created_at),
        }
    }
}

impl From<&CurrentComponent> for ComponentView {
    fn from(current: &CurrentComponent) -> Self {
        let (component, monitor) = (&current.component, current.monitor.as_ref());
        let status = match (current.status, monitor) {
            (ComponentStatus::UnderMaintenance, _) => ComponentStatus::UnderMaintenance.as_str(),
            (_, Some(monitor)) => monitor.state.as_str(),
            // Its secrets cannot be opened, so it was not checked since the start.
            (_, None) => "pending",
        };
        let id = component.monitor_id.text();
        Self {
            name: monitor.map_or_else(|| id.clone(), |monitor| monitor.name.clone()),
            id,
            display_name: component.display_name.clone(),
            group: component.group.clone(),
            status,
            uptime_90d: monitor.and_then(|monitor| monitor.uptime_90d),
        }
    }
}

impl From<&Branding> for BrandingView {
    fn from(branding: &Branding) -> Self {
        Self {
            logo_url: branding.logo_url.as_ref().map(|logo| logo.as_str().to_owned()),
            primary_color: branding.primary_color.as_ref().map(|color| color.as_str().to_owned()),
        }
    }
}
