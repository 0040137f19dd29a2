//! Where the requests of a command go: to the server running on the data directory, to a remote
//! server, or, if none is running, to the same routes in this process, on the engine opened here.
//! Commands need not distinguish these.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use telltale_engine::{Clock, Engine, Maintenance, Options};

use super::error::CliError;
use crate::app::App;
use crate::areas;
use crate::config::Config;
use crate::http::{Origin, Server};
use crate::platform::control::{Answer, Control};
use crate::platform::remote::Remote;
use crate::platform::ticks::Ticks;

/// Where a command is to be executed.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) config: Config,
    /// A remote server to use instead of the data directory.
    pub(super) remote: Option<Remote>,
}

impl Destination {
    /// Connects to the remote server, if one is given, or to the server on the data directory, if
    /// one is running.
    pub(super) async fn running(&self) -> Result<Option<Control>, CliError> {
        Ok(match &self.remote {
            Some(remote) => Some(Control::reach(remote.clone()).await?),
            None => Control::connect(&self.config.server.data).await?,
        })
    }
}

/// The service that executes a command.
#[derive(Debug)]
pub(super) enum Target {
    /// A running server.
    Running(Control),
    /// The routes in this process.
    Stopped(Local),
}

/// The routes on an engine opened in this process.
#[derive(Debug)]
pub(super) struct Local {
    engine: Engine,
    server: Arc<Server>,
}

impl Target {
    /// Connects to the remote server or the server running on the data directory, or opens the data
    /// directory.
    pub(super) async fn open(destination: &Destination) -> Result<Self, CliError> {
        match destination.running().await? {
            Some(control) => Ok(Self::Running(control)),
            None => {
                must_hold_data(&destination.config.server.data)?;
                Self::open_stopped(&destination.config).await
            }
        }
    }

    /// Like [`Self::open`] for the data directory, but creates it if it does not exist.
    pub(super) async fn open_or_make(config: &Config) -> Result<Self, CliError> {
        match Control::connect(&config.server.data).await? {
            Some(control) => Ok(Self::Running(control)),
            None => Self::open_stopped(config).await,
        }
    }

    async fn open_stopped(config: &Config) -> Result<Self, CliError> {
        let config = config.clone();
        let opening = tokio::task::spawn_blocking(move || Local::open(&config));
        let local =
            opening.await.map_err(|error| CliError::failed("cannot open the data", error))??;
        Ok(Self::Stopped(local))
    }

    /// Sends a request; returns the body of a successful response as a string.
    pub(super) async fn send(
        &mut self,
        method: Method,
        path_and_query: &str,
        body: Option<&Value>,
    ) -> Result<String, CliError> {
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let answer = self.exchange(method, path_and_query, HeaderMap::new(), body).await?;
        success(&answer)
    }

    /// Sends a request and returns the response, whatever its status.
    pub(super) async fn exchange(
        &mut self,
        method: Method,
        path_and_query: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, CliError> {
        match self {
            Self::Running(control) => {
                Ok(control.send(method, path_and_query, headers, body).await?)
            }
            Self::Stopped(local) => local.send(method, path_and_query, headers, body).await,
        }
    }

    /// Closes the connection, or seals and closes the engine.
    pub(super) async fn close(self) -> Result<(), CliError> {
        match self {
            Self::Running(_) => Ok(()),
            Self::Stopped(local) => {
                let closing = tokio::task::spawn_blocking(move || local.engine.close());
                Ok(closing
                    .await
                    .map_err(|error| CliError::failed("cannot close the data", error))??)
            }
        }
    }
}

impl Local {
    /// Opens the engine. Blocks while the log is replayed.
    fn open(config: &Config) -> Result<Self, CliError> {
        let (clock, ticks) = (Clock::system(), Ticks::system());
        let memory = config.memory();
        let settings = config.http_settings(&memory);
        // A command must not have side effects such as compaction or expiry.
        let maintenance = Maintenance::Manual;
        let options = Options { maintenance, ..config.engine_options(clock.clone(), &memory) };
        let engine = Engine::open(&config.server.data, options)?;
        let app = App::new(engine.clone(), clock.clone(), ticks.clone(), config)
            .map_err(|error| CliError::failed("cannot read the keys, jobs and errors", error))?;
        let server = Server::new(settings, clock, ticks, areas::routes())
            .map_err(|error| CliError::failed("cannot set up the routes", error))?;
        // A new server has no app yet.
        drop(server.open(app));
        Ok(Self { engine, server })
    }

    /// Returns the engine, for writes that are too large for requests.
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn send(
        &self,
        method: Method,
        path_and_query: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, CliError> {
        let invalid = |error: http::Error| CliError::failed("cannot create the request", error);
        let mut request = http::Request::builder()
            .method(method)
            .uri(path_and_query)
            .body(Full::new(Bytes::from(body)))
            .map_err(invalid)?;
        *request.headers_mut() = headers;
        let response = self.server.handle(Origin::Control, request).await;
        let (head, body) = response.into_parts();
        let body = body
            .collect()
            .await
            .map_err(|error| CliError::failed("the response was cut off", error))?;
        Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() })
    }
}

/// Returns the body of a successful response as a string, or the error from its error body.
pub(super) fn success(answer: &Answer) -> Result<String, CliError> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    if answer.status.is_success() {
        return Ok(text);
    }
    let body: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let part = |name: &str| body.pointer(&format!("/error/{name}")).and_then(Value::as_str);
    let status = answer.status;
    let code = part("code").map_or_else(|| status.as_u16().to_string(), str::to_owned);
    let message = part("message").map_or_else(|| reason(status), str::to_owned);
    Err(CliError::Refused { code, message })
}

fn reason(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or("the server refused").to_lowercase()
}

/// Fails unless `data` is a data directory with data: a mistyped path must not create one.
fn must_hold_data(data: &Path) -> Result<(), CliError> {
    if !data.is_dir() {
        let data = data.display();
        return Err(CliError::Usage(format!(
            "there is no data directory {data}; set it with --data"
        )));
    }
    Ok(Engine::check_directory(data)?)
}
