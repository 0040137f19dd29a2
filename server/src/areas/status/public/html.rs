//! The HTML of a status page. It contains no script, and needs none: what happened on a day is
//! shown by the style while the day is hovered or focused.

use askama::Template;

use super::branding::Look;
use super::model::{
    ComponentStatus, IncidentImpact, PublicBranding, PublicComponent, PublicDay, PublicIncident,
    PublicMaintenance, PublicPage, PublicUpdate,
};
use super::words::{self, Text, When};

/// Days that a narrow screen shows; the style hides the ones before them.
const NARROW_DAYS: usize = 30;

/// A page, and the policy without which it must not be sent.
#[derive(Debug)]
pub(super) struct Html {
    pub(super) text: String,
    /// The value of the header `Content-Security-Policy`.
    pub(super) policy: String,
}

/// What all pages of a site have in common.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) look: Look,
    pub(super) name: Text<'a>,
    /// The path of the status page.
    pub(super) home: &'a str,
}

#[derive(Template)]
#[template(path = "status/page.html")]
struct PageTemplate<'a> {
    frame: Frame<'a>,
    base: &'a str,
    status: ComponentStatus,
    headline: &'static str,
    updated: When,
    open: Vec<IncidentView<'a>>,
    past: Vec<PastDay<'a>>,
    maintenances: Vec<MaintenanceView<'a>>,
    groups: Vec<GroupView<'a>>,
    /// The longest history of a component, in days.
    days: usize,
    can_subscribe: bool,
}

struct GroupView<'a> {
    name: Option<Text<'a>>,
    components: Vec<ComponentView<'a>>,
}

struct ComponentView<'a> {
    name: Text<'a>,
    status: ComponentStatus,
    uptime: Option<String>,
    days: Vec<DayView>,
    /// The history for screen readers.
    summary: String,
}

/// A day as a bar. Only days on which something happened have a label of their own and can be
/// focused.
enum DayView {
    Quiet { date: String },
    NoData { date: String },
    Event { kind: EventKind, label: String },
}

/// The worst that happened on a day.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EventKind {
    Down,
    /// Degraded, or with an incident that the monitors did not notice.
    Degraded,
    Maintenance,
}

struct IncidentView<'a> {
    id: &'a str,
    title: Text<'a>,
    impact: IncidentImpact,
    /// The status whose sign and colour the incident has.
    tone: ComponentStatus,
    started: When,
    duration: Option<String>,
    components: Vec<Text<'a>>,
    /// The last update, then those before it.
    latest: Option<UpdateView<'a>>,
    earlier: Vec<UpdateView<'a>>,
    /// Whether there were updates before these.
    is_shortened: bool,
}

struct UpdateView<'a> {
    label: &'static str,
    at: When,
    message: Text<'a>,
}

struct PastDay<'a> {
    day: i64,
    date: String,
    incidents: Vec<IncidentView<'a>>,
}

struct MaintenanceView<'a> {
    id: &'a str,
    title: Text<'a>,
    label: &'static str,
    starts: When,
    ends: When,
    description: Option<Text<'a>>,
    components: Vec<Text<'a>>,
}

/// Renders a status page.
pub(super) fn page(page: &PublicPage) -> Result<Html, askama::Error> {
    let frame = Frame::new(&page.name, &page.base_path, &page.branding);
    let policy = frame.look.policy.clone();
    let all = page.groups.iter().flat_map(|group| &group.components);
    let (open, resolved): (Vec<_>, Vec<_>) =
        page.incidents.iter().partition(|incident| incident.is_open());
    let groups = page.groups.iter().map(|group| GroupView {
        name: group.name.as_deref().map(Text),
        components: group.components.iter().map(ComponentView::from).collect(),
    });
    let template = PageTemplate {
        frame,
        base: &page.base_path,
        status: page.overall(),
        headline: page.headline(),
        updated: words::when(page.updated_at),
        open: open.into_iter().map(IncidentView::from).collect(),
        past: past_days(&resolved),
        maintenances: page.maintenances.iter().map(MaintenanceView::from).collect(),
        groups: groups.collect(),
        days: all.map(|component| component.days.len()).max().unwrap_or_default(),
        can_subscribe: page.can_subscribe,
    };
    Ok(Html { text: template.render()?, policy })
}

/// Returns resolved incidents by the day of their start, the last day first.
fn past_days<'a>(resolved: &[&'a PublicIncident]) -> Vec<PastDay<'a>> {
    let mut resolved = resolved.to_vec();
    resolved.sort_by_key(|incident| std::cmp::Reverse(incident.started_at));
    let mut days: Vec<PastDay<'a>> = Vec::new();
    for incident in resolved {
        let day = words::day_of(incident.started_at);
        let view = IncidentView::from(incident);
        match days.last_mut().filter(|last| last.day == day) {
            Some(last) => last.incidents.push(view),
            None => days.push(PastDay { day, date: words::date(day), incidents: vec![view] }),
        }
    }
    days
}

impl<'a> Frame<'a> {
    pub(super) fn new(name: &'a str, base_path: &'a str, branding: &PublicBranding) -> Self {
        let home = if base_path.is_empty() { "/" } else { base_path };
        Self { look: Look::new(branding), name: Text(name), home }
    }
}

impl PageTemplate<'_> {
    /// Returns the days that a narrow screen shows.
    fn narrow_days(&self) -> usize {
        self.days.min(NARROW_DAYS)
    }
}

impl<'a> From<&'a PublicComponent> for ComponentView<'a> {
    fn from(component: &'a PublicComponent) -> Self {
        let days: Vec<_> = component.days.iter().map(DayView::from).collect();
        Self {
            name: Text(&component.name),
            status: component.status,
            uptime: component.uptime_90d.filter(|uptime| uptime.is_finite()).map(words::percent),
            summary: summary(&days),
            days,
        }
    }
}

/// Returns how many days were as they should not be: `Last 90 days: problems on 3 days, no data
/// for 1 day.`
fn summary(days: &[DayView]) -> String {
    let of = |wanted: EventKind| {
        days.iter().filter(move |day| matches!(day, DayView::Event { kind, .. } if *kind == wanted))
    };
    let problems = of(EventKind::Down).count() + of(EventKind::Degraded).count();
    let maintenance = of(EventKind::Maintenance).count();
    let no_data = days.iter().filter(move |day| matches!(day, DayView::NoData { .. })).count();
    let mut parts = Vec::new();
    if problems > 0 {
        parts.push(format!("problems on {}", words::count(problems, "day")));
    } else if no_data < days.len() {
        parts.push("no problems".to_owned());
    }
    if maintenance > 0 {
        parts.push(format!("maintenance on {}", words::count(maintenance, "day")));
    }
    if no_data > 0 {
        parts.push(format!("no data for {}", words::count(no_data, "day")));
    }
    format!("Last {}: {}.", words::count(days.len(), "day"), parts.join(", "))
}

impl From<&PublicDay> for DayView {
    fn from(day: &PublicDay) -> Self {
        let date = words::date_of_year(day.day);
        let has_incident = !day.incidents.is_empty();
        let kind = match day {
            day if day.down_ms > 0 => EventKind::Down,
            day if day.degraded_ms > 0 || has_incident => EventKind::Degraded,
            day if day.maintenance_ms > 0 => EventKind::Maintenance,
            day if day.up_ms > 0 => return Self::Quiet { date },
            _ => return Self::NoData { date },
        };
        Self::Event { kind, label: format!("{date}: {}", events(day)) }
    }
}

/// Returns what happened on a day: `down 14 min, degraded 3 min, incident “Checkout fails”`.
fn events(day: &PublicDay) -> String {
    let states =
        [("down", day.down_ms), ("degraded", day.degraded_ms), ("maintenance", day.maintenance_ms)];
    let happened = states.into_iter().filter(|(_, ms)| *ms > 0);
    let mut parts: Vec<_> =
        happened.map(|(name, ms)| format!("{name} {}", words::duration(i64::from(ms)))).collect();
    parts.extend(day.incidents.iter().map(|title| format!("incident “{}”", Text(title))));
    parts.join(", ")
}

impl EventKind {
    /// Returns the class in the style.
    fn class(self) -> &'static str {
        match self {
            Self::Down => "x",
            Self::Degraded => "g",
            Self::Maintenance => "m",
        }
    }
}

impl<'a> From<&'a PublicIncident> for IncidentView<'a> {
    fn from(incident: &'a PublicIncident) -> Self {
        let mut updates = incident.updates.iter().map(UpdateView::from);
        let duration = |end: telltale_engine::TimestampMs| {
            words::duration(end.0.saturating_sub(incident.started_at.0))
        };
        Self {
            id: &incident.id,
            title: Text(&incident.title),
            impact: incident.impact,
            tone: match incident.impact {
                IncidentImpact::Minor => ComponentStatus::DegradedPerformance,
                IncidentImpact::Major => ComponentStatus::PartialOutage,
                IncidentImpact::Critical => ComponentStatus::MajorOutage,
            },
            started: words::when(incident.started_at),
            duration: incident.resolved_at.map(duration),
            components: incident.components.iter().map(|name| Text(name)).collect(),
            latest: updates.next(),
            earlier: updates.collect(),
            is_shortened: incident.is_shortened,
        }
    }
}

impl<'a> From<&'a PublicUpdate> for UpdateView<'a> {
    fn from(update: &'a PublicUpdate) -> Self {
        Self {
            label: update.status.label(),
            at: words::when(update.at),
            message: Text(&update.message),
        }
    }
}

impl<'a> From<&'a PublicMaintenance> for MaintenanceView<'a> {
    fn from(maintenance: &'a PublicMaintenance) -> Self {
        Self {
            id: &maintenance.id,
            title: Text(&maintenance.title),
            label: maintenance.status.label(),
            starts: words::when(maintenance.starts_at),
            ends: words::until(maintenance.starts_at, maintenance.ends_at),
            description: maintenance.description.as_deref().map(Text),
            components: maintenance.components.iter().map(|name| Text(name)).collect(),
        }
    }
}
