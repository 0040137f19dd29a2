//! A status page as its visitors see it. Everything that a visitor can get is derived from these
//! types; they know nothing of monitors, documents or HTTP.

use telltale_engine::TimestampMs;

use crate::areas::status::{incidents, maintenance, public_status};

/// A status page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PublicPage {
    pub(super) name: String,
    /// The start of the paths of its links: empty when the page has a host of its own,
    /// `/status/acme` when it is served by path.
    pub(super) base_path: String,
    /// The URL of the page without a slash at its end, for ids and links in the feed.
    pub(super) absolute_url: String,
    pub(super) branding: PublicBranding,
    pub(super) status: PageStatus,
    /// When something on the page changed last.
    pub(super) updated_at: TimestampMs,
    pub(super) groups: Vec<PublicGroup>,
    /// Open ones first, then those resolved in the last 15 days.
    pub(super) incidents: Vec<PublicIncident>,
    /// Upcoming and in progress, by start.
    pub(super) maintenances: Vec<PublicMaintenance>,
    /// Whether visitors can subscribe to mails.
    pub(super) can_subscribe: bool,
}

/// How a page looks. Both values come from users and are validated again where they are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PublicBranding {
    pub(super) logo_url: Option<String>,
    /// `#rrggbb`
    pub(super) primary_color: Option<String>,
}

/// Components under a heading, or under none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PublicGroup {
    pub(super) name: Option<String>,
    pub(super) components: Vec<PublicComponent>,
}

/// A component of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PublicComponent {
    /// The id of the monitor, for the path of its badge.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) status: ComponentStatus,
    /// Percent of the last 90 days, rounded down to three decimals; `None` without data.
    pub(super) uptime_90d: Option<f64>,
    /// The last 90 days, oldest first, today last.
    pub(super) days: Vec<PublicDay>,
}

/// A day of a component. A day without any milliseconds has no data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PublicDay {
    /// Days since 1970, in UTC.
    pub(super) day: i64,
    pub(super) up_ms: u32,
    pub(super) degraded_ms: u32,
    pub(super) down_ms: u32,
    pub(super) maintenance_ms: u32,
    /// The titles of the incidents of that day.
    pub(super) incidents: Vec<String>,
}

/// An incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublicIncident {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) impact: IncidentImpact,
    pub(super) status: IncidentStatus,
    pub(super) started_at: TimestampMs,
    pub(super) updated_at: TimestampMs,
    /// `None` while the incident is open.
    pub(super) resolved_at: Option<TimestampMs>,
    /// The names of the components.
    pub(super) components: Vec<String>,
    /// Newest first.
    pub(super) updates: Vec<PublicUpdate>,
    /// Whether there were updates before these.
    pub(super) is_shortened: bool,
}

/// An update of an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublicUpdate {
    pub(super) status: IncidentStatus,
    pub(super) message: String,
    pub(super) at: TimestampMs,
}

/// A scheduled maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PublicMaintenance {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) status: MaintenanceStatus,
    pub(super) starts_at: TimestampMs,
    pub(super) ends_at: TimestampMs,
    /// The names of the components.
    pub(super) components: Vec<String>,
}

/// The status of a whole page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageStatus {
    Operational,
    DegradedPerformance,
    PartialOutage,
    MajorOutage,
    UnderMaintenance,
}

/// The status of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComponentStatus {
    Operational,
    DegradedPerformance,
    PartialOutage,
    MajorOutage,
    UnderMaintenance,
    /// Nothing was observed yet.
    Unknown,
}

/// How much of the service an incident affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IncidentImpact {
    Minor,
    Major,
    Critical,
}

/// How far the work on an incident is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IncidentStatus {
    Investigating,
    Identified,
    Monitoring,
    Resolved,
}

/// The status of a scheduled maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaintenanceStatus {
    Scheduled,
    InProgress,
    Completed,
}

impl PublicPage {
    /// Returns the status of the whole service as people see it: not "operational" as long as
    /// nothing is known of any component.
    pub(super) fn overall(&self) -> ComponentStatus {
        let mut components = self.groups.iter().flat_map(|group| &group.components).peekable();
        let is_unknown = components.peek().is_some()
            && components.all(|component| component.status == ComponentStatus::Unknown);
        match self.status {
            PageStatus::Operational if is_unknown => ComponentStatus::Unknown,
            status => status.into(),
        }
    }

    /// Returns the status of the whole service in words: not that all is well if nothing is known
    /// of a part.
    pub(super) fn headline(&self) -> &'static str {
        let mut components = self.groups.iter().flat_map(|group| &group.components);
        let is_part_unknown = components.any(|one| one.status == ComponentStatus::Unknown);
        match self.overall() {
            ComponentStatus::Operational if is_part_unknown => "No known problems",
            ComponentStatus::Operational => "All systems operational",
            ComponentStatus::UnderMaintenance => "Maintenance in progress",
            status => status.label(),
        }
    }
}

impl PublicIncident {
    /// Returns whether the incident is not resolved.
    pub(super) fn is_open(&self) -> bool {
        self.resolved_at.is_none()
    }
}

impl PageStatus {
    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        ComponentStatus::from(self).as_str()
    }
}

impl From<PageStatus> for ComponentStatus {
    fn from(status: PageStatus) -> Self {
        match status {
            PageStatus::Operational => Self::Operational,
            PageStatus::DegradedPerformance => Self::DegradedPerformance,
            PageStatus::PartialOutage => Self::PartialOutage,
            PageStatus::MajorOutage => Self::MajorOutage,
            PageStatus::UnderMaintenance => Self::UnderMaintenance,
        }
    }
}

impl ComponentStatus {
    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Operational => "operational",
            Self::DegradedPerformance => "degraded_performance",
            Self::PartialOutage => "partial_outage",
            Self::MajorOutage => "major_outage",
            Self::UnderMaintenance => "under_maintenance",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the status in words.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Operational => "Operational",
            Self::DegradedPerformance => "Degraded performance",
            Self::PartialOutage => "Partial outage",
            Self::MajorOutage => "Major outage",
            Self::UnderMaintenance => "Under maintenance",
            Self::Unknown => "No data yet",
        }
    }
}

impl IncidentImpact {
    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }

    /// Returns the impact in words.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Minor => "Minor impact",
            Self::Major => "Major impact",
            Self::Critical => "Critical impact",
        }
    }
}

impl IncidentStatus {
    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Investigating => "investigating",
            Self::Identified => "identified",
            Self::Monitoring => "monitoring",
            Self::Resolved => "resolved",
        }
    }

    /// Returns the status in words.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Investigating => "Investigating",
            Self::Identified => "Identified",
            Self::Monitoring => "Monitoring",
            Self::Resolved => "Resolved",
        }
    }
}

impl MaintenanceStatus {
    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }

    /// Returns the status in words.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Scheduled => "Scheduled",
            Self::InProgress => "In progress",
            Self::Completed => "Completed",
        }
    }
}

impl From<public_status::PageStatus> for PageStatus {
    fn from(status: public_status::PageStatus) -> Self {
        use public_status::PageStatus as Of;
        match status {
            Of::Operational => Self::Operational,
            Of::DegradedPerformance => Self::DegradedPerformance,
            Of::PartialOutage => Self::PartialOutage,
            Of::MajorOutage => Self::MajorOutage,
            Of::UnderMaintenance => Self::UnderMaintenance,
        }
    }
}

impl From<public_status::ComponentStatus> for ComponentStatus {
    fn from(status: public_status::ComponentStatus) -> Self {
        use public_status::ComponentStatus as Of;
        match status {
            Of::Operational => Self::Operational,
            Of::DegradedPerformance => Self::DegradedPerformance,
            Of::MajorOutage => Self::MajorOutage,
            Of::UnderMaintenance => Self::UnderMaintenance,
            Of::Unknown => Self::Unknown,
        }
    }
}

impl From<public_status::IncidentImpact> for IncidentImpact {
    fn from(impact: public_status::IncidentImpact) -> Self {
        use public_status::IncidentImpact as Of;
        match impact {
            Of::Minor => Self::Minor,
            Of::Major => Self::Major,
            Of::Critical => Self::Critical,
        }
    }
}

impl From<incidents::IncidentStatus> for IncidentStatus {
    fn from(status: incidents::IncidentStatus) -> Self {
        use incidents::IncidentStatus as Of;
        match status {
            Of::Investigating => Self::Investigating,
            Of::Identified => Self::Identified,
            Of::Monitoring => Self::Monitoring,
            Of::Resolved => Self::Resolved,
        }
    }
}

impl From<maintenance::MaintenanceStatus> for MaintenanceStatus {
    fn from(status: maintenance::MaintenanceStatus) -> Self {
        use maintenance::MaintenanceStatus as Of;
        match status {
            Of::Scheduled => Self::Scheduled,
            Of::InProgress => Self::InProgress,
            Of::Completed => Self::Completed,
        }
    }
}
