//! The statuses that status pages show: of components, of incidents' impacts, of whole pages.

use super::monitors::MonitorState;

/// The status of a component of a status page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComponentStatus {
    /// The monitor is up.
    Operational,
    /// The monitor is degraded.
    DegradedPerformance,
    /// The monitor is down.
    MajorOutage,
    /// A scheduled maintenance of the page covers the monitor, whatever its state.
    UnderMaintenance,
    /// The monitor was not checked yet, is paused, or cannot be read.
    Unknown,
}

/// The status of a status page, in ascending order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PageStatus {
    /// All components are operational or unknown.
    Operational,
    /// A component is under maintenance.
    UnderMaintenance,
    /// A component is degraded, or an incident has a minor impact.
    DegradedPerformance,
    /// Some components are down, or an incident has a major impact.
    PartialOutage,
    /// All components are down, or an incident has a critical impact.
    MajorOutage,
}

/// How severe an incident is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IncidentImpact {
    /// Something is slower or less reliable than usual.
    Minor,
    /// A part does not work.
    Major,
    /// Nothing works.
    Critical,
}

impl ComponentStatus {
    /// Returns the status of a component whose monitor has this state; `None` if it cannot be read.
    pub(super) fn new(state: Option<MonitorState>, is_maintained: bool) -> Self {
        match state {
            _ if is_maintained => Self::UnderMaintenance,
            Some(MonitorState::Up) => Self::Operational,
            Some(MonitorState::Degraded) => Self::DegradedPerformance,
            Some(MonitorState::Down) => Self::MajorOutage,
            Some(MonitorState::Pending | MonitorState::Paused) | None => Self::Unknown,
        }
    }

    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Operational => "operational",
            Self::DegradedPerformance => "degraded_performance",
            Self::MajorOutage => "major_outage",
            Self::UnderMaintenance => "under_maintenance",
            Self::Unknown => "unknown",
        }
    }
}

impl PageStatus {
    /// Returns the status of a page with these components and these impacts of open incidents: the
    /// more severe one of the status that the components have together and of those that the
    /// incidents stand for.
    pub(super) fn of(
        components: impl IntoIterator<Item = ComponentStatus>,
        open: impl IntoIterator<Item = IncidentImpact>,
    ) -> Self {
        let incidents = open.into_iter().map(Self::of_impact).max();
        Self::of_components(components).max(incidents.unwrap_or(Self::Operational))
    }

    fn of_components(components: impl IntoIterator<Item = ComponentStatus>) -> Self {
        let (mut running, mut down) = (0_usize, 0_usize);
        let mut mildest = Self::Operational;
        for component in components {
            match component {
                ComponentStatus::Operational => running += 1,
                ComponentStatus::DegradedPerformance => {
                    running += 1;
                    mildest = mildest.max(Self::DegradedPerformance);
                }
                ComponentStatus::MajorOutage => down += 1,
                ComponentStatus::UnderMaintenance => mildest = mildest.max(Self::UnderMaintenance),
                ComponentStatus::Unknown => {}
            }
        }
        match (running, down) {
            (_, 0) => mildest,
            (0, _) => Self::MajorOutage,
            _ => Self::PartialOutage,
        }
    }

    fn of_impact(impact: IncidentImpact) -> Self {
        match impact {
            IncidentImpact::Minor => Self::DegradedPerformance,
            IncidentImpact::Major => Self::PartialOutage,
            IncidentImpact::Critical => Self::MajorOutage,
        }
    }

    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Operational => "operational",
            Self::UnderMaintenance => "under_maintenance",
            Self::DegradedPerformance => "degraded_performance",
            Self::PartialOutage => "partial_outage",
            Self::MajorOutage => "major_outage",
        }
    }
}

impl IncidentImpact {
    /// All impacts.
    pub(super) const ALL: [Self; 3] = [Self::Minor, Self::Major, Self::Critical];

    /// Returns the name in the API.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }

    /// Parses what [`Self::as_str`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|impact| impact.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: ComponentStatus = ComponentStatus::Operational;
    const SLOW: ComponentStatus = ComponentStatus::DegradedPerformance;
    const DOWN: ComponentStatus = ComponentStatus::MajorOutage;
    const PLANNED: ComponentStatus = ComponentStatus::UnderMaintenance;
    const UNKNOWN: ComponentStatus = ComponentStatus::Unknown;

    #[test]
    fn the_status_of_a_page_follows_from_components_and_incidents() {
        use IncidentImpact::{Critical, Major, Minor};
        let cases: &[(&[ComponentStatus], &[IncidentImpact], &str)] = &[
            (&[], &[], "operational"),
            (&[UP, UP], &[], "operational"),
            (&[UNKNOWN], &[], "operational"),
            (&[UNKNOWN, UP], &[], "operational"),
            (&[SLOW, UP], &[], "degraded_performance"),
            (&[SLOW, SLOW], &[], "degraded_performance"),
            (&[SLOW, PLANNED], &[], "degraded_performance"),
            (&[PLANNED, UP], &[], "under_maintenance"),
            (&[PLANNED, PLANNED], &[], "under_maintenance"),
            (&[PLANNED, UNKNOWN], &[], "under_maintenance"),
            (&[DOWN, UP], &[], "partial_outage"),
            (&[DOWN, SLOW], &[], "partial_outage"),
            (&[DOWN], &[], "major_outage"),
            (&[DOWN, DOWN], &[], "major_outage"),
            // Only what is known and not under maintenance counts.
            (&[DOWN, UNKNOWN, PLANNED], &[], "major_outage"),
            (&[DOWN, UP, UNKNOWN, PLANNED], &[], "partial_outage"),
            (&[], &[Minor], "degraded_performance"),
            (&[UP], &[Minor], "degraded_performance"),
            (&[UP], &[Major], "partial_outage"),
            (&[UP], &[Critical], "major_outage"),
            (&[UP], &[Minor, Critical, Major], "major_outage"),
            (&[SLOW], &[Major], "partial_outage"),
            (&[PLANNED], &[Minor], "degraded_performance"),
            // An incident makes a status worse, never better.
            (&[DOWN, UP], &[Minor], "partial_outage"),
            (&[DOWN, UP], &[Critical], "major_outage"),
            (&[DOWN], &[Minor], "major_outage"),
        ];
        for (components, impacts, expected) in cases {
            let status = PageStatus::of(components.iter().copied(), impacts.iter().copied());
            assert_eq!(status.as_str(), *expected, "{components:?} {impacts:?}");
        }
    }

    #[test]
    fn a_component_is_unknown_until_it_was_checked() {
        let of = |state| ComponentStatus::new(state, false).as_str();
        assert_eq!(of(Some(MonitorState::Pending)), "unknown");
        assert_eq!(of(Some(MonitorState::Paused)), "unknown");
        assert_eq!(of(None), "unknown");
        assert_eq!(of(Some(MonitorState::Up)), "operational");
        assert_eq!(of(Some(MonitorState::Degraded)), "degraded_performance");
        assert_eq!(of(Some(MonitorState::Down)), "major_outage");
        for state in MonitorState::ALL {
            assert_eq!(ComponentStatus::new(Some(state), true), PLANNED);
        }
    }
}
