//! The server: state that exists for the whole life of the process, even while there is no [`App`].
//!
//! States: *starting* until [`Server::open`] receives the app, then *ready*, and *draining* once
//! shutdown has begun. A server never returns to an earlier state.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use telltale_engine::Clock;

use super::admission::Admission;
use super::error::{ApiError, ApiResult, ErrorCode};
use super::idempotency::InFlight;
use super::refusal_log_limit::RefusalLogLimit;
use super::response_compression::ResponseCompressor;
use super::route::Route;
use super::router::{InvalidRoute, Router};
use super::settings::Settings;
use super::telemetry::Telemetry;
use super::unauthenticated::UnauthenticatedClients;
use super::{openapi, operational};
use crate::app::App;
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::ticks::Ticks;

/// The HTTP server of the process.
#[derive(Debug)]
pub struct Server {
    pub(super) settings: Settings,
    pub(super) ticks: Ticks,
    pub(super) ids: Ids,
    pub(super) router: Router,
    pub(super) openapi: Bytes,
    pub(super) telemetry: Telemetry,
    pub(super) admission: Admission,
    /// Admission on the control socket: the operator is admitted even if the network has reached
    /// its limits.
    pub(super) control: Admission,
    pub(super) unauthenticated: UnauthenticatedClients,
    pub(super) refusal_log_limit: RefusalLogLimit,
    pub(super) in_flight: InFlight,
    pub(super) compressor: ResponseCompressor,
    app: OnceLock<Arc<App>>,
    draining: AtomicBool,
}

/// A server could not be created.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The route tables are inconsistent.
    #[error(transparent)]
    Routes(#[from] InvalidRoute),
    /// The system's random number generator failed.
    #[error("no randomness: {0}")]
    Randomness(#[from] std::io::Error),
}

impl Server {
    /// Creates a server in the state *starting*: it serves `/healthz` and refuses everything else
    /// with `unavailable`. The ticks are [`Ticks::system`] except in tests that control time.
    pub fn new(
        settings: Settings,
        clock: Clock,
        ticks: Ticks,
        routes: impl IntoIterator<Item = &'static Route>,
    ) -> Result<Arc<Self>, SetupError> {
        let router = Router::new(routes.into_iter().chain(operational::ROUTES))?;
        Ok(Arc::new(Self {
            ids: Ids::new(clock)?,
            openapi: openapi::document(router.routes(), &settings),
            telemetry: Telemetry::new(router.routes()),
            admission: Admission::new(&settings),
            control: Admission::new(&settings),
            unauthenticated: UnauthenticatedClients::new(&settings),
            refusal_log_limit: RefusalLogLimit::default(),
            in_flight: InFlight::default(),
            compressor: ResponseCompressor::default(),
            app: OnceLock::new(),
            draining: AtomicBool::new(false),
            router,
            settings,
            ticks,
        }))
    }

    /// Makes the server ready. Returns the app if the server already has one.
    pub fn open(&self, app: Arc<App>) -> Result<(), Arc<App>> {
        self.app.set(app)
    }

    /// Starts to refuse new work; requests in progress continue.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Returns whether shutdown has begun.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Returns the app, once the engine is open.
    pub fn app(&self) -> Option<&Arc<App>> {
        self.app.get()
    }

    /// Returns the settings of the server.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the server's counts of its own work.
    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Returns the app for new work. Fails while the server starts or drains.
    pub(super) fn ready(&self) -> ApiResult<&Arc<App>> {
        if self.is_draining() {
            return Err(unavailable("the server is shutting down"));
        }
        self.opened()
    }

    /// Returns the app, even while the server drains.
    pub(super) fn opened(&self) -> ApiResult<&Arc<App>> {
        self.app().ok_or_else(|| unavailable("the server is starting"))
    }
}

fn unavailable(message: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, message).retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
}
