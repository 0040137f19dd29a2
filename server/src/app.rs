//! The state that request handlers use: the open engine, keys, jobs, errors, clock and ids.
//!
//! An [`App`] exists only while the engine is open, so handlers need not check for that. Engine
//! calls block and may compute for long: the methods here run them outside the threads that serve
//! connections.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use telltale_engine::{Cancellation, Clock, Engine, TimestampMs, Write, Written};
use tokio::sync::{Semaphore, oneshot};

use crate::areas::alerting::{Alerting, AlertingSettings, AlertingSetupError};
use crate::areas::bulk::{Families, OtlpSettings};
use crate::areas::errors::{Ledger, LedgerLimits};
use crate::areas::snapshots::{SnapshotError, SnapshotParts, Snapshots};
use crate::areas::status::{Status, StatusParts, StatusSetupError};
use crate::config::Config;
use crate::http::{ApiError, ApiResult, ErrorCode, HostedSite};
use crate::jobs::{Jobs, JobsError};
use crate::limits::{JSON_SCRATCH_BYTES_MAX, OVERLOADED_RETRY_SECONDS};
use crate::platform::ids::Ids;
use crate::platform::keys::{KeyError, Keys};
use crate::platform::sealing::SecretStore;
use crate::platform::signed_url::UrlSigner;
use crate::platform::ticks::Ticks;

/// The result of work that an [`App`] runs: the error is the one to respond with.
pub type AppResult<T> = ApiResult<T>;

/// The open service.
#[derive(Debug)]
pub struct App {
    engine: Engine,
    clock: Clock,
    ids: Arc<Ids>,
    keys: Keys,
    jobs: Arc<Jobs>,
    errors: Ledger,
    families: Families,
    alerting: Alerting,
    status: Status,
    snapshots: Snapshots,
    url_signer: UrlSigner,
    dashboard_inserts: Mutex<()>,
    query_slots: Arc<Semaphore>,
    query_timeout: Duration,
    widget_timeout: Duration,
    otlp: Arc<OtlpSettings>,
    bulk_write_points_max: usize,
    began: TimestampMs,
}

/// Opening the service failed.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The jobs cannot be read.
    #[error(transparent)]
    Jobs(#[from] JobsError),
    /// The error groups cannot be read, or the engine failed.
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
    /// The system provides no randomness for ids.
    #[error("the system provides no randomness: {0}")]
    Randomness(#[from] std::io::Error),
}

/// Maximum number of repair attempts at startup, each of which handles the damaged tables found so
/// far.
const HEALINGS_MAX: usize = 64;

impl App {
    /// Loads the in-memory state from the open engine. Blocks. Fails if the storage fails, or if
    /// the system provides no randomness for ids.
    pub fn new(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        config: &Config,
    ) -> Result<Arc<Self>, AppError> {
        for _ in 0..HEALINGS_MAX {
            match Self::read(engine.clone(), clock.clone(), ticks.clone(), config) {
                // Damaged tables are repaired, or removed and reported: the rest is served.
                Err(_) if engine.heal()? => {}
                outcome => return outcome,
            }
        }
        Self::read(engine, clock, ticks, config)
    }

    fn read(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        config: &Config,
    ) -> Result<Arc<Self>, AppError> {
        let ids = Arc::new(Ids::new(clock.clone())?);
        let of_jobs = Arc::clone(&ids);
        let jobs = Jobs::open(engine.clone(), clock.clone(), ticks.clone(), of_jobs, config.jobs)?;
        let keys = Keys::load(engine.clone(), clock.clone(), ticks.clone(), config.limits)?;
        let of_errors = Arc::clone(&ids);
        let limits = LedgerLimits {
            users_bytes_max: usize::try_from(config.plan.error_users).unwrap_or(usize::MAX),
            retention: config.retention.events.duration(),
        };
        let errors =
            Ledger::open(engine.clone(), clock.clone(), of_errors, &config.errors, limits)?;
        let secrets = Arc::new(SecretStore::new(engine.directory(), &config.secrets));
        let alerting = AlertingSettings {
            rules: &config.alerting,
            notifications: &config.notifications,
            public_url: &config.server.public_url,
            outbound: &config.outbound,
            smtp: &config.smtp,
            secrets: &secrets,
        };
        let alerting = Alerting::open(&engine, Arc::clone(&ids), clock.clone(), alerting)?;
        let parts = StatusParts {
            status: &config.status,
            public_url: &config.server.public_url,
            outbound: &config.outbound,
            smtp: &config.smtp,
        };
        let status = Status::open(&engine, &clock, ticks, parts, Arc::clone(&secrets))?;
        let parts = SnapshotParts {
            snapshots: &config.snapshots,
            public_url: &config.server.public_url,
            outbound: &config.outbound,
            data: engine.directory(),
            ids: &ids,
        };
        let snapshots = Snapshots::open(&engine, parts, secrets)?;
        Ok(Arc::new(Self {
            ids,
            query_slots: Arc::new(Semaphore::new(config.http.queries_at_once().max(1))),
            query_timeout: config.http.query_timeout.duration(),
            widget_timeout: Duration::from_millis(config.dashboards.widget_timeout_ms),
            otlp: Arc::new(config.otlp.clone()),
            bulk_write_points_max: config.bulk_write_points(),
            began: clock.now(),
            url_signer: UrlSigner::open(&engine)?,
            engine,
            clock,
            keys,
            jobs: Arc::new(jobs),
            errors,
            families: Families::default(),
            alerting,
            status,
            snapshots,
            dashboard_inserts: Mutex::new(()),
        }))
    }

    /// Returns the engine. Its calls block: handlers use [`Self::write`], [`Self::query`] or
    /// [`Self::blocking`].
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the API keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Returns the jobs.
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Returns the ledger of error groups.
    pub fn errors(&self) -> &Ledger {
        &self.errors
    }

    /// Returns the metric families that agents have described.
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// Returns the state of alerting.
    pub fn alerting(&self) -> &Alerting {
        &self.alerting
    }

    /// Returns the state of monitors and status pages.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Returns the state of snapshots.
    pub fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }

    /// Returns what signs URLs.
    pub fn url_signer(&self) -> &UrlSigner {
        &self.url_signer
    }

    /// Returns what the host of a request serves, given in lower case and without a port.
    pub fn hosted_site(&self, host: &str) -> HostedSite {
        self.status.site(host)
    }

    /// Returns whether the host of a request has to be looked at.
    pub fn may_have_hosted_sites(&self) -> bool {
        self.status.may_have_hosts()
    }

    /// Returns the lock under which dashboards are counted and created, so that concurrent requests
    /// do not exceed their limit together.
    pub fn dashboard_inserts(&self) -> &Mutex<()> {
        &self.dashboard_inserts
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the current time.
    pub fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Returns the time limit of a query.
    pub fn query_timeout(&self) -> Duration {
        self.query_timeout
    }

    /// Returns the time limit of a dashboard widget.
    pub fn widget_timeout(&self) -> Duration {
        self.widget_timeout
    }

    /// Returns the OTLP resource and scope attributes that become tags, in addition to those of
    /// data points.
    pub fn otlp(&self) -> &Arc<OtlpSettings> {
        &self.otlp
    }

    /// Returns the maximum number of samples of a bulk body per write.
    pub fn bulk_write_points_max(&self) -> usize {
        self.bulk_write_points_max
    }

    /// Returns the time at which this process opened the engine.
    pub fn began(&self) -> TimestampMs {
        self.began
    }

    /// Returns a new id with the given prefix.
    pub fn new_id(&self, prefix: &str) -> String {
        self.ids.next(prefix)
    }

    /// Returns a new id as a number, for resources with an id format of their own.
    pub fn new_number(&self) -> u128 {
        self.ids.next_number()
    }

    /// Writes samples and events, together with the receipt of an idempotent request. Returns once
    /// they are durable as configured.
    pub async fn write(&self, write: Write) -> AppResult<Written> {
        let (done, outcome) = oneshot::channel();
        self.engine.submit(write, move |result| {
            // The receiver is gone if the client has disconnected; the data is stored anyway.
            drop(done.send(result));
        });
        match outcome.await {
            Ok(result) => result.map_err(ApiError::from),
            Err(_) => {
                Err(ApiError::internal("the engine dropped a write without reporting its outcome"))
            }
        }
    }

    /// Runs a query or another long computation on a query slot; waits while all slots are in use.
    /// Engine queries stop early if the client disconnects or exceeds `http.query_timeout`; the
    /// slot is held until then.
    pub async fn query<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> AppResult<T>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        let slots = Arc::clone(&self.query_slots);
        let slot = slots.acquire_owned().await.map_err(ApiError::internal)?;
        let waiting = Cancellation::new(self.clock.clone(), self.query_timeout);
        let until = self.clock.steady().saturating_add(self.query_timeout);
        let _cancel = CancelOnDrop(waiting.clone());
        let outcome = self.blocking(move |app| {
            let outcome = waiting.scope(|| work(app));
            drop(slot);
            outcome
        });
        outcome.await.map_err(|error| {
            if error.code() != ErrorCode::Overloaded || self.clock.steady() < until {
                return error;
            }
            let message =
                "the query took longer than http.query_timeout; request less data at once";
            ApiError::new(ErrorCode::Overloaded, message)
                .retry_after(OVERLOADED_RETRY_SECONDS)
                .caused_by(error.cause().unwrap_or(error.message()))
        })
    }

    /// Parses the body of a request: at once if it is short, otherwise outside the threads that
    /// serve connections.
    pub async fn parse<T, E>(
        self: &Arc<Self>,
        body: Vec<u8>,
        work: impl FnOnce(&Self, &[u8]) -> Result<T, E> + Send + 'static,
    ) -> AppResult<T>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        if body.len() <= JSON_SCRATCH_BYTES_MAX {
            work(self, &body).map_err(Into::into)
        } else {
            self.blocking(move |app| work(app, &body)).await
        }
    }

    /// Runs short work that may wait for the disk, such as a change of documents.
    pub async fn blocking<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> AppResult<T>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        let app = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&app)).await {
            Ok(result) => result.map_err(Into::into),
            Err(error) => Err(ApiError::internal(error)),
        }
    }
}

/// Cancels the queries of a client when dropped.
#[derive(Debug)]
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
