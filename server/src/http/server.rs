//! The server: what exists from the first connection to the last, also while there is no [`App`].
//!
//! Life: *starting* until [`Server::open`] is given the app; then *ready*; *draining* from the moment that
//! shutdown begins. A server never goes back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use telltale_engine::Clock;

use super::admission::Admission;
use super::error::{ApiError, ApiResult, ErrorCode};
use super::idempotency::InFlight;
use super::packing::Packers;
use super::route::Route;
use super::router::{InvalidRoute, Router};
use super::settings::Settings;
use super::stranger_lines::StrangerLines;
use super::strangers::Strangers;
use super::telemetry::Telemetry;
use super::{openapi, operational};
use crate::app::App;
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::ticks::Ticks;

/// The HTTP side of the process.
#[derive(Debug)]
pub struct Server {
    pub(super) settings: Settings,
    pub(super) ticks: Ticks,
    pub(super) ids: Ids,
    pub(super) router: Router,
    pub(super) openapi: Bytes,
    pub(super) telemetry: Telemetry,
    pub(super) admission: Admission,
    /// The operator gets in also when the network has taken all places.
    pub(super) control: Admission,
    pub(super) strangers: Strangers,
    pub(super) stranger_lines: StrangerLines,
    pub(super) in_flight: InFlight,
    pub(super) packers: Packers,
    app: OnceLock<Arc<App>>,
    draining: AtomicBool,
}

/// A server cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The route tables contradict each other.
    #[error(transparent)]
    Routes(#[from] InvalidRoute),
    /// The system has no randomness to give.
    #[error("no randomness: {0}")]
    Randomness(#[from] std::io::Error),
}

impl Server {
    /// A server that is starting: it answers `/healthz`, and everything else with `unavailable`. The ticks are
    /// [`Ticks::system`] except in tests that move time.
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
            strangers: Strangers::new(&settings),
            stranger_lines: StrangerLines::default(),
            in_flight: InFlight::default(),
            packers: Packers::default(),
            app: OnceLock::new(),
            draining: AtomicBool::new(false),
            router,
            settings,
            ticks,
        }))
    }

    /// Makes the server ready. It takes one app in its life; a second one is given back.
    pub fn open(&self, app: Arc<App>) -> Result<(), Arc<App>> {
        self.app.set(app)
    }

    /// Refuses new work from now on; what is being answered goes on.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether shutdown has begun.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// The app, once the engine is open.
    pub fn app(&self) -> Option<&Arc<App>> {
        self.app.get()
    }

    /// The settings that the server was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the server has counted of its own work.
    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// The app, to do new work with.
    pub(super) fn ready(&self) -> ApiResult<&Arc<App>> {
        if self.is_draining() {
            return Err(unavailable("the server is shutting down"));
        }
        self.opened()
    }

    /// The app, also while the server drains.
    pub(super) fn opened(&self) -> ApiResult<&Arc<App>> {
        self.app().ok_or_else(|| unavailable("the server is starting"))
    }
}

fn unavailable(message: &'static str) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, message).retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
}
