//! Where a command's requests go: to the server that runs on the data directory, or, when none runs, to the same
//! routes inside this process, on the engine opened here. Commands cannot tell the difference.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use telltale_engine::{Clock, Engine, Maintenance, Options};

use super::error::CliError;
use super::wiring;
use crate::app::App;
use crate::areas;
use crate::http::{Origin, Server};
use crate::platform::config::Config;
use crate::platform::control::{Answer, Control};
use crate::platform::remote::Remote;
use crate::platform::ticks::Ticks;

/// Where a command is to be answered.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) config: Config,
    /// A server elsewhere, instead of what is on the data directory.
    pub(super) remote: Option<Remote>,
}

impl Destination {
    /// The server that runs, if any does or must.
    pub(super) async fn running(&self) -> Result<Option<Control>, CliError> {
        Ok(match &self.remote {
            Some(remote) => Some(Control::reach(remote.clone()).await?),
            None => Control::connect(&self.config.server.data).await?,
        })
    }
}

/// The service that answers a command.
#[derive(Debug)]
pub(super) enum Target {
    /// A server that runs.
    Running(Control),
    /// The routes in this process.
    Stopped(Local),
}

/// The routes on an engine opened here.
#[derive(Debug)]
pub(super) struct Local {
    engine: Engine,
    server: Arc<Server>,
}

impl Target {
    /// Finds the server that runs elsewhere, or on the data directory of the configuration, or opens the directory.
    pub(super) async fn open(destination: &Destination) -> Result<Self, CliError> {
        match destination.running().await? {
            Some(control) => Ok(Self::Running(control)),
            None => {
                must_hold_data(&destination.config.server.data)?;
                Self::open_stopped(&destination.config).await
            }
        }
    }

    /// Like [`Self::open`], and makes a data directory where there is none.
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
            opening.await.map_err(|died| CliError::failed("cannot open the data", died))??;
        Ok(Self::Stopped(local))
    }

    /// Sends a request and answers the body of a success as text.
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

    /// Sends a request and answers whatever comes back.
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

    /// Ends the connection, or seals and closes the engine.
    pub(super) async fn close(self) -> Result<(), CliError> {
        match self {
            Self::Running(_) => Ok(()),
            Self::Stopped(local) => {
                let closing = tokio::task::spawn_blocking(move || local.engine.close());
                Ok(closing
                    .await
                    .map_err(|died| CliError::failed("cannot close the data", died))??)
            }
        }
    }
}

impl Local {
    /// Blocks while the log is replayed.
    fn open(config: &Config) -> Result<Self, CliError> {
        let (clock, ticks) = (Clock::system(), Ticks::system());
        let memory = config.memory();
        let settings = wiring::http_settings(config, &memory);
        // A command does what it was told and nothing else: no merging, and no dropping of what is too old.
        let maintenance = Maintenance::Manual;
        let options = Options { maintenance, ..config.engine_options(clock.clone(), &memory) };
        let engine = Engine::open(&config.server.data, options)?;
        let app = App::new(engine.clone(), clock.clone(), ticks.clone(), &settings)
            .map_err(|error| CliError::failed("cannot read the keys, jobs and errors", error))?;
        let server = Server::new(settings, clock, ticks, areas::routes())
            .map_err(|error| CliError::failed("cannot set up the routes", error))?;
        // A server that was just made has no app yet.
        drop(server.open(app));
        Ok(Self { engine, server })
    }

    /// The engine, for what is too much for requests.
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
        let unsent = |error: http::Error| CliError::failed("the request cannot be made", error);
        let mut request = http::Request::builder()
            .method(method)
            .uri(path_and_query)
            .body(Full::new(Bytes::from(body)))
            .map_err(unsent)?;
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

/// The body of a success as text, or the refusal that the error body tells of.
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

/// Commands about data do not make a data directory by a slip of the keyboard, nor write to what is none.
fn must_hold_data(data: &Path) -> Result<(), CliError> {
    if !data.is_dir() {
        let data = data.display();
        return Err(CliError::Usage(format!(
            "there is no data directory {data}; set it with --data"
        )));
    }
    Ok(Engine::check_directory(data)?)
}
