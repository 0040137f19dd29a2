//! What the areas keep while the engine is open: an area with state has a field here, the line that
//! opens it, and an accessor of [`App`].
//!
//! Apart from `app` because that names no area, and from `areas` because those do not know the
//! whole configuration.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::app::App;
use crate::areas::alerting::{Alerting, AlertingSetupError};
use crate::areas::bulk::{Families, OtlpSettings};
use crate::areas::errors::{Ledger, LedgerLimits};
use crate::areas::events::EventFollowers;
use crate::areas::repositories::{Repositories, RepositoriesSetupError};
use crate::areas::snapshots::{SnapshotError, Snapshots};
use crate::areas::status::{Status, StatusSetupError};
use crate::areas::{AreaParts, FileWaste};
use crate::config::{Config, EventSettings};
use crate::http::HostedSite;
use crate::platform::waiting_requests::WaitingRequests;

/// The state of all areas.
#[derive(Debug)]
pub struct AreaStates {
    errors: Ledger,
    event_followers: EventFollowers,
    families: Families,
    otlp: Arc<OtlpSettings>,
    bulk_write_points_max: usize,
    dashboard_inserts: Mutex<()>,
    widget_timeout: Duration,
    alerting: Alerting,
    status: Status,
    snapshots: Snapshots,
    repositories: Repositories,
    file_waste: FileWaste,
}

/// The state of an area cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum AreaError {
    /// The error groups cannot be read.
    #[error("cannot read the error groups: {0}")]
    Errors(#[from] telltale_engine::Error),
    /// Alerting cannot be set up.
    #[error(transparent)]
    Alerting(#[from] AlertingSetupError),
    /// Monitors and status pages cannot be set up.
    #[error(transparent)]
    Status(#[from] StatusSetupError),
    /// Snapshots cannot be read.
    #[error("cannot read the snapshots: {0}")]
    Snapshots(#[from] SnapshotError),
    /// Repositories cannot be set up.
    #[error(transparent)]
    Repositories(#[from] RepositoriesSetupError),
}

impl AreaStates {
    /// Loads the state of all areas from the engine. Blocks.
    pub(crate) fn open(parts: AreaParts<'_>, config: &Config) -> Result<Self, AreaError> {
        Ok(Self {
            errors: open_errors(parts, config)?,
            event_followers: open_followers(parts, config),
            families: Families::default(),
            otlp: Arc::new(config.otlp.clone()),
            bulk_write_points_max: config.bulk_write_points(),
            dashboard_inserts: Mutex::new(()),
            widget_timeout: Duration::from_millis(config.dashboards.widget_timeout_ms),
            alerting: Alerting::open(parts, &config.alerting, &config.notifications)?,
            status: Status::open(parts, &config.status)?,
            snapshots: Snapshots::open(parts, &config.snapshots)?,
            repositories: Repositories::open(parts, &config.repositories, &config.llm)?,
            file_waste: FileWaste::default(),
        })
    }
}

fn open_errors(parts: AreaParts<'_>, config: &Config) -> telltale_engine::Result<Ledger> {
    let limits = LedgerLimits {
        users_bytes_max: usize::try_from(config.plan.error_users).unwrap_or(usize::MAX),
        retention: config.retention.events.duration(),
    };
    let AreaParts { engine, clock, ids, .. } = parts;
    Ledger::open(engine.clone(), clock.clone(), Arc::clone(ids), &config.errors, limits)
}

fn open_followers(parts: AreaParts<'_>, config: &Config) -> EventFollowers {
    // The random part of an id.
    let run = parts.ids.next_number() as u64;
    let EventSettings { tail_waiters_max, key_tail_waiters_max, .. } = config.events;
    let waiting = WaitingRequests::new(tail_waiters_max, key_tail_waiters_max);
    EventFollowers::new(parts.engine, waiting, run)
}

impl App {
    /// Returns the requests that wait for new events.
    pub fn event_followers(&self) -> &EventFollowers {
        &self.areas().event_followers
    }

    /// Returns the ledger of error groups.
    pub fn errors(&self) -> &Ledger {
        &self.areas().errors
    }

    /// Returns the metric families that agents have described.
    pub fn families(&self) -> &Families {
        &self.areas().families
    }

    /// Returns the OTLP resource and scope attributes that become tags, in addition to those of
    /// data points.
    pub fn otlp(&self) -> &Arc<OtlpSettings> {
        &self.areas().otlp
    }

    /// Returns the maximum number of samples of a bulk body per write.
    pub fn bulk_write_points_max(&self) -> usize {
        self.areas().bulk_write_points_max
    }

    /// Returns the lock under which dashboards are counted and created, so that concurrent requests
    /// do not exceed their limit together.
    pub fn dashboard_inserts(&self) -> &Mutex<()> {
        &self.areas().dashboard_inserts
    }

    /// Returns the time limit of a dashboard widget.
    pub fn widget_timeout(&self) -> Duration {
        self.areas().widget_timeout
    }

    /// Returns the state of alerting.
    pub fn alerting(&self) -> &Alerting {
        &self.areas().alerting
    }

    /// Returns the state of monitors and status pages.
    pub fn status(&self) -> &Status {
        &self.areas().status
    }

    /// Returns the state of snapshots.
    pub fn snapshots(&self) -> &Snapshots {
        &self.areas().snapshots
    }

    /// Returns the state of repositories.
    pub fn repositories(&self) -> &Repositories {
        &self.areas().repositories
    }

    /// Returns whether there may be files of the engine that nothing uses any more.
    pub fn file_waste(&self) -> &FileWaste {
        &self.areas().file_waste
    }

    /// Returns what the host of a request serves, given in lower case and without a port.
    pub fn hosted_site(&self, host: &str) -> HostedSite {
        self.status().site(host)
    }

    /// Returns whether the host of a request has to be looked at.
    pub fn may_have_hosted_sites(&self) -> bool {
        self.status().may_have_hosts()
    }
}
