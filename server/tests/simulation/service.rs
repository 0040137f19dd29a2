//! The service under test: everything between the engine and the sockets.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use telltale_engine::{Clock, Engine, Memory};
use telltale_server::app::App;
use telltale_server::areas;
use telltale_server::http::{Origin, Server};
use telltale_server::jobs::Jobs;
use telltale_server::platform::ticks::Ticks;
use telltale_simulation::Disk;

use crate::setup::Setup;

/// An open service.
#[derive(Debug)]
pub(crate) struct Service {
    app: Arc<App>,
    server: Arc<Server>,
}

impl Service {
    /// Opens the service, or returns why it does not open.
    pub(crate) fn open(setup: &Setup, disk: &Disk, clock: &Clock) -> Result<Self, String> {
        let engine = setup.open(disk, clock).map_err(|error| error.to_string())?;
        let (config, ticks) = (setup.config(), Ticks::following(clock.clone()));
        let settings = config.http_settings(&Memory::unlimited());
        let app = App::new(engine, clock.clone(), ticks.clone(), &config);
        let app = app.map_err(|error| error.to_string())?;
        let server = Server::new(settings, clock.clone(), ticks, areas::routes()).unwrap();
        server.open(Arc::clone(&app)).unwrap();
        Ok(Self { app, server })
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.app.engine()
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        self.app.jobs()
    }

    pub(crate) fn errors(&self) -> &areas::errors::Ledger {
        self.app.errors()
    }

    /// Handles a request, and returns its status and its data.
    pub(crate) async fn call(&self, method: Method, path: &str, body: &str) -> (u16, Value) {
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
        let request = Request::builder().method(method).uri(path).body(body).unwrap();
        let (head, body) = self.server.handle(Origin::Control, request).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let mut body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let data = body.get_mut("data").map(Value::take);
        (head.status.as_u16(), data.unwrap_or(body))
    }

    /// Shuts down in order.
    pub(crate) fn close(&self) -> telltale_engine::Result<()> {
        self.jobs().end_waits();
        self.jobs().close();
        let stored = self.errors().close();
        stored.and(self.engine().close())
    }
}
