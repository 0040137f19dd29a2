//! An HTTP client with a key. It does not follow redirects, retry requests or interpret responses.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use ureq::http;

use crate::coverage;
use crate::response::Response;

/// Longer than any response takes on a busy machine; a server that hangs fails the test instead of
/// blocking it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Sends requests to one server with one key, or without.
#[derive(Clone, Debug)]
pub struct Client {
    agent: ureq::Agent,
    address: SocketAddr,
    key: Option<String>,
}

impl Client {
    /// Creates a client of the server at `address`.
    pub fn new(address: SocketAddr, key: Option<&str>) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .max_redirects(0)
            .proxy(None)
            .accept_encoding("identity")
            .timeout_global(Some(TIMEOUT))
            .build();
        Self { agent: config.into(), address, key: key.map(str::to_owned) }
    }

    /// Returns a client with another key and the same connections.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    /// Returns a client without a key and with the same connections.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    /// Sends a `GET` request to `path`, which begins with `/` and is sent unchanged.
    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        self.request("GET", path).send()
    }

    /// Sends a `POST` request with JSON.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Response {
        self.request("POST", path).json(body).send()
    }

    /// Sends a `POST` request with any bytes, declared as JSON.
    #[track_caller]
    pub fn post_text(&self, path: &str, body: impl AsRef<[u8]>) -> Response {
        let typed = self.request("POST", path).header("content-type", "application/json");
        typed.body(body.as_ref()).send()
    }

    /// Sends a `DELETE` request.
    #[track_caller]
    pub fn delete(&self, path: &str) -> Response {
        self.request("DELETE", path).send()
    }

    /// Begins any other request.
    pub fn request<'a>(&'a self, method: &'a str, path: &'a str) -> Outgoing<'a> {
        Outgoing { client: self, method, path, headers: Vec::new(), body: None }
    }
}

/// A request under construction.
#[derive(Debug)]
pub struct Outgoing<'a> {
    client: &'a Client,
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

impl<'a> Outgoing<'a> {
    /// Adds a header; the bytes of its value are sent unchanged.
    #[must_use]
    pub fn header(mut self, name: &'a str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name, value.as_ref().to_vec()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Some(bytes.into());
        self
    }

    /// Sets a JSON body and its content type.
    #[must_use]
    pub fn json(self, value: &Value) -> Self {
        self.header("content-type", "application/json").body(value.to_string())
    }

    /// Sends the request and waits for the response.
    #[track_caller]
    pub fn send(self) -> Response {
        let call = format!("{} {}", self.method, self.path);
        match self.try_send() {
            Ok(response) => response,
            Err(error) => panic!("{call}: no response: {error}"),
        }
    }

    /// Sends the request. Returns an error if there is no response, such as when the server is
    /// killed.
    pub fn try_send(self) -> Result<Response, ureq::Error> {
        let mut builder = http::Request::builder()
            .method(self.method)
            .uri(format!("http://{}{}", self.client.address, self.path));
        if let Some(key) = &self.client.key {
            builder = builder.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in &self.headers {
            builder = builder.header(*name, value.as_slice());
        }
        let agent = &self.client.agent;
        let mut response = match (self.body, self.method) {
            (Some(bytes), _) => agent.run(builder.body(bytes)?)?,
            (None, "POST" | "PUT" | "PATCH") => agent.run(builder.body(Vec::new())?)?,
            (None, _) => agent.run(builder.body(())?)?,
        };
        let response = Response {
            status: response.status().as_u16(),
            headers: response
                .headers()
                .iter()
                .map(|(n, v)| (n.to_string(), String::from_utf8_lossy(v.as_bytes()).into_owned()))
                .collect(),
            body: response.body_mut().with_config().limit(u64::MAX).read_to_vec()?,
        };
        coverage::note(self.method, self.path, response.status);
        Ok(response)
    }
}
