//! `telltale login`: prints a link that signs in to the console once.

use http::Method;
use serde_json::{Value, json};

use super::args::LoginArgs;
use super::error::CliError;
use super::output::{note, out};
use super::target::{Destination, Target};
use crate::config::Config;

/// Makes a code for a key and prints the link with it.
pub(super) async fn run(destination: &Destination, args: &LoginArgs) -> Result<(), CliError> {
    let body = args.key_id.as_ref().map_or_else(|| json!({}), |id| json!({"key_id": id}));
    let mut target = Target::open(destination).await?;
    let is_stopped = matches!(target, Target::Stopped(_));
    let done = target.send(Method::POST, "/api/v1/session/codes", Some(&body)).await;
    let described = match destination.remote {
        Some(_) => None,
        // What it says of itself is only a better guess: a code that was made is printed anyway.
        None => target.send(Method::GET, "/api/v1/server", None).await.ok(),
    };
    target.close().await?;
    let answer = parsed(&done?)?;
    let path = answer
        .pointer("/data/path")
        .and_then(Value::as_str)
        .ok_or_else(|| CliError::Found("the response of the server contains no link".to_owned()))?;
    let base = match &destination.remote {
        Some(remote) => remote.url(),
        None => base_url(&destination.config, port_of(described.as_deref(), &destination.config)),
    };
    note("The link signs in once, within ten minutes.");
    if is_stopped {
        note("The server is not running; start it first.");
    }
    out(&format!("{base}{path}\n"))
}

fn parsed(response: &str) -> Result<Value, CliError> {
    serde_json::from_str(response)
        .map_err(|error| CliError::failed("cannot parse the response of the server", error))
}

/// Returns the port on which the server listens, as it describes itself, or would listen: the one
/// that is configured may be another one, or 0.
fn port_of(described: Option<&str>, config: &Config) -> u16 {
    let described: Option<Value> = described.and_then(|text| serde_json::from_str(text).ok());
    let port = described.and_then(|server| server.pointer("/data/port")?.as_u64());
    port.and_then(|port| port.try_into().ok()).unwrap_or_else(|| config.server.listen.port())
}

/// Returns the URL of a server that listens on this port: the configured one, or that of its
/// address, if a browser can use it.
pub(super) fn base_url(config: &Config, port: u16) -> String {
    if let Some(url) = config.server.public_url.get() {
        return url.as_str().trim_end_matches('/').to_owned();
    }
    let mut address = config.server.listen;
    address.set_port(port);
    if address.ip().is_unspecified() {
        return format!("http://localhost:{port}");
    }
    format!("http://{address}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_an_address_that_a_browser_can_open() {
        let mut config = Config::default();
        for (listen, expected) in [
            ("127.0.0.1:0", "http://127.0.0.1:81"),
            ("0.0.0.0:0", "http://localhost:81"),
            ("[::]:0", "http://localhost:81"),
            ("[::1]:0", "http://[::1]:81"),
        ] {
            config.server.listen = listen.parse().unwrap();
            assert_eq!(base_url(&config, 81), expected);
        }
    }
}
