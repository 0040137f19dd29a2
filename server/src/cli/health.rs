//! `telltale health`: reports by its exit code whether the server on the data directory is ready.
//! Containers use it as their health check, so that the image needs no HTTP client.

use std::time::Duration;

use http::{HeaderMap, Method};
use tokio::time::timeout;

use super::error::CliError;
use super::output::out;
use super::target::success;
use crate::config::Config;
use crate::platform::control::{Answer, Control, ControlError};

/// How long the server may take to respond; a slower one counts as failed.
const RESPONSE_WAIT: Duration = Duration::from_secs(5);

/// Succeeds if the server responds on its control socket that it is ready.
pub(super) async fn check(config: &Config) -> Result<(), CliError> {
    let data = &config.server.data;
    let answer = timeout(RESPONSE_WAIT, readiness(config)).await.map_err(|_elapsed| {
        let seconds = RESPONSE_WAIT.as_secs();
        CliError::Found(format!("the server on {} did not respond in {seconds} s", data.display()))
    })??;
    let Some(answer) = answer else {
        return Err(CliError::Found(format!("no server is ready on {}", data.display())));
    };
    success(&answer)?;
    out("ready\n")
}

/// Returns the response of `/readyz`, or `None` if no server is running.
async fn readiness(config: &Config) -> Result<Option<Answer>, ControlError> {
    let Some(mut control) = Control::connect(&config.server.data).await? else { return Ok(None) };
    control.send(Method::GET, "/readyz", HeaderMap::new(), Vec::new()).await.map(Some)
}
