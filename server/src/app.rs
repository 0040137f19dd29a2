//! The state that request handlers use: the open engine, keys, jobs, clock, ids, and the state of
//! the areas.
//!
//! An [`App`] exists only while the engine is open, so handlers need not check for that. Engine
//! calls block and may compute for long: the methods here run them outside the threads that serve
//! connections, except for brief queries and for single writes to a fast disk.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Cancellation, Clock, Engine, TimestampMs, Write, Written};
use tokio::sync::{Semaphore, oneshot};

use crate::area_states::{AreaError, AreaStates};
use crate::areas::AreaParts;
use crate::config::Config;
use crate::console::session::Sessions;
use crate::http::{ApiError, ApiResult, ErrorCode};
use crate::jobs::{Jobs, JobsError};
use crate::limits::{JSON_SCRATCH_BYTES_MAX, OVERLOADED_RETRY_SECONDS};
use crate::platform::connection_thread;
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
    sessions: Sessions,
    jobs: Arc<Jobs>,
    areas: AreaStates,
    url_signer: UrlSigner,
    query_slots: Arc<Semaphore>,
    query_timeout: Duration,
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
    /// The state of an area cannot be set up.
    #[error(transparent)]
    Areas(#[from] AreaError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] telltale_engine::Error),
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
        let parts = AreaParts {
            engine: &engine,
            clock: &clock,
            ticks: &ticks,
            ids: &ids,
            secrets: &Arc::new(SecretStore::new(engine.directory(), &config.secrets)),
            public_url: &config.server.public_url,
            outbound: &config.outbound,
            smtp: &config.smtp,
        };
        let areas = AreaStates::open(parts, config)?;
        let public_url = config.server.public_url.get().map(|url| url.as_str());
        let shared = (engine.clone(), clock.clone(), ticks);
        let url_signer = UrlSigner::open(&engine)?;
        let named = (&*url_signer.mark(), public_url);
        let sessions = Sessions::open(shared, Arc::clone(&ids), &keys, config.console, named)?;
        Ok(Arc::new(Self {
            ids,
            query_slots: Arc::new(Semaphore::new(config.http.queries_at_once().max(1))),
            query_timeout: config.http.query_timeout.duration(),
            began: clock.now(),
            url_signer,
            engine,
            clock,
            keys,
            sessions,
            jobs: Arc::new(jobs),
            areas,
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

    /// Returns the sessions of the console.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Returns the jobs.
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Returns the state of the areas, which have accessors of their own.
    pub(crate) fn areas(&self) -> &AreaStates {
        &self.areas
    }

    /// Returns what signs URLs.
    pub fn url_signer(&self) -> &UrlSigner {
        &self.url_signer
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
    /// they are durable as configured. The thread of the connection writes itself if this is its
    /// only handler and the disk is fast. It blocks for that moment, and for up to 1.5 ms before.
    pub async fn write(&self, write: Write) -> AppResult<Written> {
        let (done, outcome) = oneshot::channel();
        // The receiver is gone if the client has disconnected; the data is stored anyway.
        let done = move |result| drop(done.send(result));
        if connection_thread::has_one_handler() {
            self.engine.submit_or_write(write, done);
        } else {
            self.engine.submit(write, done);
        }
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

    /// Runs a query at once if it reads little, and that from memory; otherwise anew, as
    /// [`Self::query`] does. `work` changes nothing.
    pub async fn query_briefly<T>(
        self: &Arc<Self>,
        work: impl Fn(&Self) -> AppResult<T> + Send + 'static,
    ) -> AppResult<T>
    where
        T: Send + 'static,
    {
        match telltale_engine::briefly(|| work(self)) {
            Some(outcome) => outcome,
            None => self.query(move |app| work(app)).await,
        }
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
        match connection_thread::spawn_blocking(move || work(&app)).await {
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
