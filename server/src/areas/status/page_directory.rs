//! All status pages in memory, with their incidents and maintenances.
//!
//! The directory is read again after a change of pages, incidents or maintenances; those that did
//! not change are not parsed again. What depends on the time is decided when it is asked for.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Collection, Engine, TimestampMs, Versioned};

use super::documents::{self, StoredResource as _};
use super::error::StatusError;
use super::hosts::CustomDomains;
use super::ids::{IncidentId, MaintenanceId, MonitorId, PageId};
use super::incidents::Incident;
use super::limits;
use super::maintenance::{Maintenance, MaintenanceStatus};
use super::monitors::MonitorTable;
use super::pages::Page;
use super::public_status::{ComponentStatus, PageStatus};
use crate::app::App;

/// What the directory is read from.
const COLLECTIONS: [Collection; 3] =
    [Page::COLLECTION, Incident::COLLECTION, Maintenance::COLLECTION];

/// Remembers the directory that was read last.
#[derive(Debug, Default)]
pub(super) struct CurrentPages {
    latest: Mutex<LatestPages>,
    /// What it takes in memory, for readers that must not wait.
    bytes: AtomicU64,
    /// The domains of pages, for requests, which must not wait.
    custom_domains: CustomDomains,
}

#[derive(Debug, Default)]
struct LatestPages {
    /// The generation of the documents before they were read; `None` before the first time.
    generation: Option<u64>,
    directory: Arc<PageDirectory>,
}

/// All status pages.
#[derive(Debug, Default)]
pub(super) struct PageDirectory {
    pages: BTreeMap<PageId, PageEntry>,
    by_subdomain: HashMap<String, PageId>,
    by_custom_domain: HashMap<String, PageId>,
    incidents: Parsed<IncidentId, Incident>,
    maintenances: Parsed<MaintenanceId, Maintenance>,
    /// Bytes of the messages of incidents.
    message_bytes: usize,
    /// Incidents that are without their messages for lack of memory.
    shortened: usize,
}

/// Resources as they were parsed, with their revisions.
type Parsed<Id, D> = BTreeMap<Id, (u64, Arc<D>)>;

/// A status page with everything that belongs to it.
#[derive(Clone, Debug)]
pub(super) struct PageEntry {
    pub(super) page: Arc<Page>,
    pub(super) revision: u64,
    /// Another number after every change of the page or of what belongs to it.
    pub(super) version: u64,
    /// Newest first. Those that the page does not show any more have no updates.
    incidents: Vec<Arc<Incident>>,
    /// Those that end first come first.
    maintenances: Vec<Arc<Maintenance>>,
}

impl CurrentPages {
    /// Returns the directory with all changes that were committed before the call. Blocks if there
    /// were any.
    pub(super) fn get(&self, app: &App) -> Result<Arc<PageDirectory>, StatusError> {
        let mut latest = self.latest.lock();
        let generation = generation(app);
        if latest.generation != Some(generation) {
            latest.directory = Arc::new(PageDirectory::load(app, &latest.directory, generation)?);
            latest.generation = Some(generation);
            self.bytes.store(latest.directory.bytes(), Ordering::Relaxed);
            self.custom_domains.set(latest.directory.pages().map(|entry| entry.page.as_ref()));
        }
        Ok(Arc::clone(&latest.directory))
    }

    /// Returns what remembers nothing yet but the domains of pages. Blocks.
    pub(super) fn open(engine: &Engine) -> Result<Self, StatusError> {
        let with_domain =
            |found: Versioned<Page>| found.value.custom_domain.is_some().then_some(found.value);
        let pages = documents::select::<Page, _>(engine, with_domain)?;
        let current = Self::default();
        current.custom_domains.set(pages.iter());
        Ok(current)
    }

    /// Returns the domains that pages have of their own.
    pub(super) fn custom_domains(&self) -> &CustomDomains {
        &self.custom_domains
    }

    /// Returns the directory with all changes before the call; `None` if it must be read for that.
    pub(super) fn current(&self, app: &App) -> Option<Arc<PageDirectory>> {
        let latest = self.latest.try_lock()?;
        (latest.generation == Some(generation(app))).then(|| Arc::clone(&latest.directory))
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn generation(app: &App) -> u64 {
    app.status().documents().generation_of(&COLLECTIONS)
}

impl PageDirectory {
    /// Reads all documents of this generation; those of `before` that did not change are shared.
    fn load(app: &App, before: &Self, generation: u64) -> Result<Self, StatusError> {
        let mut directory = Self::default();
        let known = |id: &str, revision| {
            let entry = before.pages.get(&PageId::parse(id)?)?;
            (entry.revision == revision).then(|| Arc::clone(&entry.page))
        };
        for found in documents::shared::<Page>(app.engine(), known)? {
            directory.add_page(found.value, found.revision);
        }
        directory.read_incidents(app, before)?;
        directory.read_maintenances(app, before)?;
        for (id, entry) in &mut directory.pages {
            let before = before.pages.get(id).filter(|before| before.shows_same(entry));
            entry.version = before.map_or(generation, |before| before.version);
        }
        Ok(directory)
    }

    fn add_page(&mut self, page: Arc<Page>, revision: u64) {
        self.by_subdomain.insert(page.subdomain.as_str().to_owned(), page.id);
        if let Some(domain) = &page.custom_domain {
            self.by_custom_domain.insert(domain.clone(), page.id);
        }
        self.pages.insert(page.id, PageEntry::new(page, revision));
    }

    fn read_incidents(&mut self, app: &App, before: &Self) -> Result<(), StatusError> {
        let now = app.now();
        let memory_was_short = before.message_bytes > limits::INCIDENT_BYTES_IN_MEMORY_MAX / 2;
        let known = |id: &str, revision| {
            let (of_known, incident) = before.incidents.get(&IncidentId::parse(id)?)?;
            let is_whole = !incident.updates.is_empty() || !incident.is_shown_at(now);
            let is_known = *of_known == revision && (is_whole || memory_was_short);
            is_known.then(|| Arc::clone(incident))
        };
        let mut found = Vec::new();
        // The positions of those that keep their messages, oldest first.
        let mut whole = VecDeque::new();
        let visit = |mut one: Versioned<Arc<Incident>>| {
            if !one.value.is_shown_at(now) {
                remove_updates(&mut one.value);
            }
            self.message_bytes += one.value.message_bytes();
            whole.push_back(found.len());
            found.push(one);
            while self.message_bytes > limits::INCIDENT_BYTES_IN_MEMORY_MAX
                && let Some(oldest) = whole.pop_front().and_then(|i: usize| found.get_mut(i))
            {
                self.message_bytes -= oldest.value.message_bytes();
                remove_updates(&mut oldest.value);
            }
        };
        documents::visit_shared::<Incident>(app.engine(), known, visit)?;
        for Versioned { value: incident, revision } in found.into_iter().rev() {
            self.shortened += usize::from(incident.updates.is_empty() && incident.is_shown_at(now));
            if let Some(entry) = self.pages.get_mut(&incident.page_id) {
                entry.incidents.push(Arc::clone(&incident));
            }
            self.incidents.insert(incident.id, (revision, incident));
        }
        if self.shortened > before.shortened {
            let incidents = self.shortened;
            tracing::warn!(
                incidents,
                "pages show these incidents without messages: too many bytes"
            );
        }
        Ok(())
    }

    fn read_maintenances(&mut self, app: &App, before: &Self) -> Result<(), StatusError> {
        let known = |id: &str, revision| {
            let (of_known, maintenance) = before.maintenances.get(&MaintenanceId::parse(id)?)?;
            (*of_known == revision).then(|| Arc::clone(maintenance))
        };
        for found in documents::shared::<Maintenance>(app.engine(), known)? {
            let maintenance = found.value;
            if let Some(entry) = self.pages.get_mut(&maintenance.page_id) {
                entry.maintenances.push(Arc::clone(&maintenance));
            }
            self.maintenances.insert(maintenance.id, (found.revision, maintenance));
        }
        for entry in self.pages.values_mut() {
            entry.maintenances.sort_by_key(|maintenance| (maintenance.ends_at, maintenance.id));
        }
        Ok(())
    }

    /// Returns a page.
    pub(super) fn page(&self, id: PageId) -> Result<&PageEntry, StatusError> {
        self.pages.get(&id).ok_or_else(|| StatusError::missing_page(id))
    }

    /// Returns the page with this subdomain.
    pub(super) fn page_at_subdomain(&self, subdomain: &str) -> Option<&PageEntry> {
        self.pages.get(self.by_subdomain.get(subdomain)?)
    }

    /// Returns the page with this domain of its own, in lower case.
    pub(super) fn page_at_domain(&self, domain: &str) -> Option<&PageEntry> {
        self.pages.get(self.by_custom_domain.get(domain)?)
    }

    /// Returns all pages, newest first.
    pub(super) fn pages(&self) -> impl Iterator<Item = &PageEntry> {
        self.pages.values().rev()
    }

    /// Returns the incidents of all pages. Those that are not shown have no updates.
    pub(super) fn incidents(&self) -> impl Iterator<Item = &Incident> {
        self.incidents.values().map(|(_, incident)| incident.as_ref())
    }

    /// Returns the maintenances of all pages.
    pub(super) fn maintenances(&self) -> impl Iterator<Item = &Maintenance> {
        self.maintenances.values().map(|(_, maintenance)| maintenance.as_ref())
    }

    fn bytes(&self) -> u64 {
        // An entry of a map, the counters of what is shared, and the pointer in a page's entry.
        const OVERHEAD: usize = 64;
        let pages = self.pages.values().map(|entry| size_of::<PageEntry>() + entry.page.bytes());
        let incidents = self.incidents.values().map(|(_, incident)| incident.bytes());
        let maintenances = self.maintenances.values().map(|(_, maintenance)| maintenance.bytes());
        pages.chain(incidents).chain(maintenances).map(|bytes| (bytes + OVERHEAD) as u64).sum()
    }
}

/// Leaves out the updates, if there are any.
fn remove_updates(incident: &mut Arc<Incident>) {
    if !incident.updates.is_empty() {
        *incident = Arc::new(Incident::clone(incident).without_updates());
    }
}

impl PageEntry {
    /// Returns the entry with the page as it is after a change.
    pub(super) fn with(&self, page: Arc<Page>, revision: u64) -> Self {
        Self { page, revision, ..self.clone() }
    }

    /// Returns whether neither the page changed nor what belongs to it.
    fn shows_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.page, &other.page)
            && same_all(&self.incidents, &other.incidents)
            && same_all(&self.maintenances, &other.maintenances)
    }

    /// Returns the entry of a page that nothing belongs to.
    pub(super) fn new(page: Arc<Page>, revision: u64) -> Self {
        Self { page, revision, version: 0, incidents: Vec::new(), maintenances: Vec::new() }
    }

    /// Returns all incidents, newest first. Those that the page does not show have no updates.
    pub(super) fn incidents(&self) -> &[Arc<Incident>] {
        &self.incidents
    }

    /// Returns the incidents that are not resolved, newest first.
    pub(super) fn open_incidents(&self) -> impl Iterator<Item = &Arc<Incident>> {
        self.incidents.iter().filter(|incident| incident.is_open())
    }

    /// Returns the incidents that the page shows, newest first: the open ones, and some of those
    /// that were resolved within 15 days.
    pub(super) fn shown_incidents(&self, now: TimestampMs) -> impl Iterator<Item = &Arc<Incident>> {
        let mut resolved = 0;
        self.incidents.iter().filter(move |incident| {
            let is_resolved = !incident.is_open() && incident.is_shown_at(now);
            resolved += usize::from(is_resolved);
            incident.is_open() || is_resolved && resolved <= limits::PAGE_RESOLVED_INCIDENTS_MAX
        })
    }

    /// Returns all maintenances, those that end first first.
    pub(super) fn maintenances(&self) -> &[Arc<Maintenance>] {
        &self.maintenances
    }

    /// Returns the maintenances that are not completed, those that start first first.
    pub(super) fn open_maintenances(&self, now: TimestampMs) -> Vec<Arc<Maintenance>> {
        let is_open = |maintenance: &&Arc<Maintenance>| {
            maintenance.status_at(now) != MaintenanceStatus::Completed
        };
        let mut open: Vec<_> = self.maintenances.iter().filter(is_open).map(Arc::clone).collect();
        open.sort_by_key(|maintenance| (maintenance.starts_at, maintenance.id));
        open
    }

    /// Returns the monitors that maintenances of the page in progress cover.
    pub(super) fn maintained(&self, now: TimestampMs) -> BTreeSet<MonitorId> {
        let is_current = |maintenance: &&Arc<Maintenance>| {
            maintenance.status_at(now) == MaintenanceStatus::InProgress
        };
        let current = self.maintenances.iter().filter(is_current);
        current.flat_map(|maintenance| maintenance.monitors.iter().copied()).collect()
    }

    /// Returns the statuses of the components, in their order.
    pub(super) fn component_statuses(
        &self,
        monitors: &MonitorTable,
        now: TimestampMs,
    ) -> Vec<ComponentStatus> {
        let maintained = self.maintained(now);
        let status = |monitor| {
            let state = monitors.state(monitor).map(|(_, state)| state);
            ComponentStatus::new(state, maintained.contains(&monitor))
        };
        self.page.monitors().map(status).collect()
    }

    /// Returns the status of the page whose components have these statuses.
    pub(super) fn status(
        &self,
        components: impl IntoIterator<Item = ComponentStatus>,
    ) -> PageStatus {
        PageStatus::of(components, self.open_incidents().map(|incident| incident.impact))
    }
}

fn same_all<T>(some: &[Arc<T>], others: &[Arc<T>]) -> bool {
    some.len() == others.len()
        && some.iter().zip(others).all(|(one, other)| Arc::ptr_eq(one, other))
}
