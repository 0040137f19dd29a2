//! What handlers work with: the open engine, the keys, the clock and the ids.
//!
//! There is an [`App`] only while the engine is open, so no handler meets a closed one. Engine calls block and
//! may compute for long: the methods here take them off the threads that serve connections.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, Engine, TimestampMs, Waiting, Write, Written};
use tokio::sync::{Semaphore, oneshot};

use crate::areas::bulk::Families;
use crate::areas::errors::Ledger;
use crate::http::{ApiError, ApiResult, ErrorCode, OtlpAttributes, Settings};
use crate::jobs::{Jobs, JobsError};
use crate::limits::{BULK_WRITE_POINTS_MAX, OVERLOADED_RETRY_SECONDS};
use crate::platform::ids::Ids;
use crate::platform::keys::{KeyError, Keys};
use crate::platform::ticks::Ticks;

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
    query_slots: Arc<Semaphore>,
    query_timeout: Duration,
    widget_timeout: Duration,
    otlp_attributes: Arc<OtlpAttributes>,
    bulk_write_points_max: usize,
    began: TimestampMs,
}

/// What is in memory could not be read.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The keys.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The jobs.
    #[error(transparent)]
    Jobs(#[from] JobsError),
    /// What is known of errors.
    #[error("cannot read what is known of errors: {0}")]
    Errors(#[from] telltale_engine::Error),
    /// There is no randomness for ids.
    #[error("the system has no randomness: {0}")]
    Randomness(#[from] std::io::Error),
}

/// Damaged tables that a start gives up one by one, at most.
const HEALINGS_MAX: usize = 64;

impl App {
    /// Reads what must be in memory from the open engine. Blocks. Fails when the storage does, and when the system
    /// has no randomness for ids.
    pub fn new(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        settings: &Settings,
    ) -> Result<Arc<Self>, AppError> {
        for _ in 0..HEALINGS_MAX {
            match Self::read(engine.clone(), clock.clone(), ticks.clone(), settings) {
                // What cannot be read is mended or given up, and told: the rest is served.
                Err(_) if engine.heal()? => {}
                outcome => return outcome,
            }
        }
        Self::read(engine, clock, ticks, settings)
    }

    fn read(
        engine: Engine,
        clock: Clock,
        ticks: Ticks,
        settings: &Settings,
    ) -> Result<Arc<Self>, AppError> {
        let ids = Arc::new(Ids::new(clock.clone())?);
        let of_jobs = Arc::clone(&ids);
        let jobs =
            Jobs::open(engine.clone(), clock.clone(), ticks.clone(), of_jobs, settings.jobs)?;
        let keys = Keys::load(engine.clone(), clock.clone(), ticks, settings.quotas)?;
        let of_errors = Arc::clone(&ids);
        let errors = Ledger::open(engine.clone(), clock.clone(), of_errors, &settings.errors)?;
        Ok(Arc::new(Self {
            ids,
            query_slots: Arc::new(Semaphore::new(settings.queries_at_once_max.max(1))),
            query_timeout: settings.query_timeout,
            widget_timeout: Duration::from_millis(settings.widget_timeout_ms),
            otlp_attributes: Arc::new(settings.otlp_attributes.clone()),
            bulk_write_points_max: settings.bulk_write_points_max.clamp(1, BULK_WRITE_POINTS_MAX),
            began: clock.now(),
            engine,
            clock,
            keys,
            jobs: Arc::new(jobs),
            errors,
            families: Families::default(),
        }))
    }

    /// The engine. Its calls block: from a handler use [`Self::write`], [`Self::query`] or [`Self::blocking`].
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The jobs.
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// What is known of errors.
    pub fn errors(&self) -> &Ledger {
        &self.errors
    }

    /// What agents say of their metrics.
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The current time.
    pub fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// How long a widget of a dashboard may take.
    pub fn widget_timeout(&self) -> Duration {
        self.widget_timeout
    }

    /// Attributes of OTLP that are tags, beside those of data points.
    pub fn otlp_attributes(&self) -> &Arc<OtlpAttributes> {
        &self.otlp_attributes
    }

    /// Points of a bulk body that go to the log in one write.
    pub fn bulk_write_points_max(&self) -> usize {
        self.bulk_write_points_max
    }

    /// When this process opened the engine.
    pub fn began(&self) -> TimestampMs {
        self.began
    }

    /// A new id that begins with `prefix`.
    pub fn new_id(&self, prefix: &str) -> String {
        self.ids.next(prefix)
    }

    /// A new id as a number, for what has ids in a form of its own.
    pub fn new_number(&self) -> u128 {
        self.ids.next_number()
    }

    /// Stores points and events, and with them the receipt of an idempotent request. Returns when they are durable
    /// as configured.
    pub async fn write(&self, write: Write) -> ApiResult<Written> {
        let (done, answer) = oneshot::channel();
        self.engine.submit(write, move |result| {
            // Nobody listens when the caller has gone; what was sent is stored all the same.
            drop(done.send(result));
        });
        match answer.await {
            Ok(result) => result.map_err(ApiError::from),
            Err(_) => Err(ApiError::internal("the engine dropped a write without an answer")),
        }
    }

    /// Runs a query or another long computation; only so many run at once, the others wait. Questions to the engine
    /// end early when the caller has gone, or has waited long enough; it keeps its place until then.
    pub async fn query<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> ApiResult<T>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        let slots = Arc::clone(&self.query_slots);
        let slot = slots.acquire_owned().await.map_err(ApiError::internal)?;
        let waiting = Waiting::new(self.clock.clone(), self.query_timeout);
        let until = self.clock.steady().saturating_add(self.query_timeout);
        let _hangs_up = HangsUp(waiting.clone());
        let outcome = self.blocking(move |app| {
            let outcome = waiting.scope(|| work(app));
            drop(slot);
            outcome
        });
        outcome.await.map_err(|error| {
            if error.code() != ErrorCode::Overloaded || self.clock.steady() < until {
                return error;
            }
            let message = "the answer took longer than http.query_timeout; ask for less at once";
            ApiError::new(ErrorCode::Overloaded, message)
                .retry_after(OVERLOADED_RETRY_SECONDS)
                .caused_by(error.cause().unwrap_or(error.message()))
        })
    }

    /// Runs something short that may wait for the disk, such as a change of documents.
    pub async fn blocking<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> ApiResult<T>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        let app = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&app)).await {
            Ok(result) => result.map_err(Into::into),
            Err(died) => Err(ApiError::internal(died)),
        }
    }
}

/// Tells questions that nobody waits for them any more, when it is dropped.
#[derive(Debug)]
struct HangsUp(Waiting);

impl Drop for HangsUp {
    fn drop(&mut self) {
        self.0.hang_up();
    }
}
