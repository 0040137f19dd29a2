//! The operations on status pages. All of them block.

use std::sync::Arc;

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Component, Page, PageChange, PageDraft};
use crate::app::App;
use crate::areas::alerting::LinkedWindows;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::fields::NO_MONITOR;
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::incidents::Incident;
use crate::areas::status::monitors::MonitorSummary;
use crate::areas::status::page_directory::{PageDirectory, PageEntry};
use crate::areas::status::public_status::{ComponentStatus, PageStatus};
use crate::areas::status::{limits, references};
use crate::platform::fields::Invalid;

/// A page as it is now.
#[derive(Clone, Debug)]
pub(super) struct CurrentPage {
    pub(super) page: Arc<Page>,
    pub(super) revision: u64,
    pub(super) url: String,
    pub(super) status: PageStatus,
    pub(super) components: Vec<CurrentComponent>,
    /// Those that are open, newest first.
    pub(super) incidents: Vec<Arc<Incident>>,
}

/// A component as it is now.
#[derive(Clone, Debug)]
pub(super) struct CurrentComponent {
    pub(super) component: Component,
    /// `None` if the monitor cannot be read.
    pub(super) monitor: Option<MonitorSummary>,
    pub(super) status: ComponentStatus,
}

/// Returns some pages with their statuses, newest first.
pub(super) fn list(
    app: &App,
    offset: usize,
    limit: usize,
) -> Result<Vec<(Arc<Page>, PageStatus)>, StatusError> {
    let (directory, now) = (app.status().pages(app)?, app.now());
    let status =
        |entry: &PageEntry| entry.status(entry.component_statuses(app.status().monitors(), now));
    let shown = directory.pages().skip(offset).take(limit);
    Ok(shown.map(|entry| (Arc::clone(&entry.page), status(entry))).collect())
}

/// Returns the ids, names and subdomains of all pages.
pub(in crate::areas::status) fn named(
    app: &App,
) -> Result<Vec<(String, String, String)>, StatusError> {
    let directory = app.status().pages(app)?;
    let named = |entry: &PageEntry| {
        let page = &entry.page;
        (page.id.text(), page.name.clone(), page.subdomain.as_str().to_owned())
    };
    Ok(directory.pages().map(named).collect())
}

/// Returns one page.
pub(super) fn get(app: &App, id: PageId) -> Result<CurrentPage, StatusError> {
    Ok(current(app, app.status().pages(app)?.page(id)?, app.now()))
}

/// Creates a page on behalf of a user.
pub(super) fn create(
    app: &App,
    draft: PageDraft,
    created_by: String,
) -> Result<CurrentPage, StatusError> {
    let mut changes = documents::begin(app);
    let PageDraft { name, subdomain, custom_domain, branding, monitors } = draft;
    let page = Page {
        id: PageId(app.new_number()),
        name,
        subdomain,
        custom_domain: check_domain(app, custom_domain)?,
        branding,
        components: monitors.iter().copied().map(Component::new).collect(),
        created_by,
        created_at: app.now(),
    };
    let table = app.status().monitors();
    if let Some(i) = monitors.iter().position(|id| !table.contains(*id)) {
        return Err(Invalid::field(format!("monitors[{i}]"), NO_MONITOR).into());
    }
    check_unique(&*app.status().pages(app)?, &page)?;
    changes.insert(&page)?;
    commit(app, changes, page)
}

/// Changes a page. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: PageId,
    change: PageChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<CurrentPage, StatusError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut page, revision } = changes.get::<Page>(&id.text(), fits)?;
    let custom_domain = change.custom_domain.clone();
    let custom_domain = custom_domain.map(|sent| check_domain(app, sent)).transpose()?;
    page.change(PageChange { custom_domain, ..change });
    check_unique(&*app.status().pages(app)?, &page)?;
    changes.replace(&page, revision)?;
    commit(app, changes, page)
}

/// Deletes a page with everything that belongs to it.
pub(super) fn delete(
    app: &App,
    id: PageId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), StatusError> {
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    let revision = changes.revision::<Page>(&id.text(), fits)?;
    changes.delete::<Page>(&id.text(), revision);
    references::delete_of_page(&mut changes, &mut windows, id)?;
    windows.commit_with(changes)?;
    // Its domain is free at once. What fails here is done when the pages are read next.
    app.status().pages(app).map(drop).or(Ok(()))
}

/// Adds a monitor to a page, after the others.
pub(super) fn add_monitor(
    app: &App,
    id: PageId,
    component: Component,
) -> Result<CurrentPage, StatusError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut page, revision } = changes.get::<Page>(&id.text(), |_| true)?;
    if !app.status().monitors().contains(component.monitor_id) {
        return Err(Invalid::field("monitor_id", NO_MONITOR).into());
    }
    if page.monitors().any(|monitor| monitor == component.monitor_id) {
        let why = "is on the status page already";
        return Err(StatusError::Duplicate { field: "monitor_id", why });
    }
    let max = limits::PAGE_MONITORS_MAX;
    if page.components.len() >= max {
        return Err(StatusError::TooMany { kind: StatusKind::Component, max });
    }
    page.components.push(component);
    changes.replace(&page, revision)?;
    commit(app, changes, page)
}

/// Takes a monitor off a page, and out of the incidents and maintenances of the page.
pub(super) fn take_monitor_off(
    app: &App,
    id: PageId,
    monitor: MonitorId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<CurrentPage, StatusError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut page, revision } = changes.get::<Page>(&id.text(), fits)?;
    if !page.remove_monitor(monitor) {
        return Err(StatusError::missing_monitor(monitor));
    }
    references::remove_monitor_of_page(app, &mut changes, id, monitor)?;
    changes.replace(&page, revision)?;
    commit(app, changes, page)
}

/// Takes a monitor off all pages, as part of `changes`. Returns their ids.
pub(in crate::areas::status) fn remove_monitor(
    changes: &mut Changes<'_>,
    monitor: MonitorId,
) -> Result<Vec<PageId>, StatusError> {
    let without = |mut found: Versioned<Page>| found.value.remove_monitor(monitor).then_some(found);
    let mut changed = Vec::new();
    for Versioned { value: page, revision } in changes.select(without)? {
        changes.replace(&page, revision)?;
        changed.push(page.id);
    }
    Ok(changed)
}

/// Applies the changes of a page, and returns it as it is then.
fn commit(app: &App, changes: Changes<'_>, page: Page) -> Result<CurrentPage, StatusError> {
    let revision = changes.commit(None)?;
    let (id, page) = (page.id, Arc::new(page));
    // It may have been changed again, or deleted, since the commit. It is stored, even if the pages
    // cannot be read.
    let directory = app.status().pages(app);
    let entry = match directory.as_ref().map(|directory| directory.page(id)) {
        Ok(Ok(entry)) => entry.with(page, revision),
        _ => PageEntry::new(page, revision),
    };
    Ok(current(app, &entry, app.now()))
}

/// Returns a page as it is at `now`.
fn current(app: &App, entry: &PageEntry, now: TimestampMs) -> CurrentPage {
    let (page, maintained) = (&entry.page, entry.maintained(now));
    let component = |component: &Component| {
        let monitor = app.status().monitors().summary(component.monitor_id);
        let state = monitor.as_ref().map(|monitor| monitor.state);
        let status = ComponentStatus::new(state, maintained.contains(&component.monitor_id));
        CurrentComponent { component: component.clone(), monitor, status }
    };
    let components: Vec<CurrentComponent> = page.components.iter().map(component).collect();
    let domain = page.custom_domain.as_deref();
    CurrentPage {
        page: Arc::clone(page),
        revision: entry.revision,
        url: app.status().addresses().url(page.subdomain.as_str(), domain),
        status: entry.status(components.iter().map(|component| component.status)),
        components,
        incidents: entry.open_incidents().map(Arc::clone).collect(),
    }
}

fn check_domain(app: &App, sent: Option<String>) -> Result<Option<String>, StatusError> {
    let check = |text: String| app.status().addresses().check_custom_domain(&text);
    Ok(sent.map(check).transpose()?)
}

/// Checks that no other page has the addresses of this one. The caller holds the lock of the
/// documents.
fn check_unique(directory: &PageDirectory, page: &Page) -> Result<(), StatusError> {
    let is_other = |entry: &PageEntry| entry.page.id != page.id;
    let subdomain = page.subdomain.as_str();
    if directory.page_at_subdomain(subdomain).is_some_and(is_other) {
        return Err(StatusError::Taken { field: "subdomain", value: subdomain.to_owned() });
    }
    match &page.custom_domain {
        Some(domain) if directory.page_at_domain(domain).is_some_and(is_other) => {
            Err(StatusError::Taken { field: "custom_domain", value: domain.clone() })
        }
        _ => Ok(()),
    }
}
