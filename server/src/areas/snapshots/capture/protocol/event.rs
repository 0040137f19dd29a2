//! Events of the protocol.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::queue_bytes::QueueShare;

/// An event of a browser context.
#[derive(Debug)]
pub(in super::super) struct BrowserEvent {
    /// The session of the page, frame or worker; `None` if the browser itself reports it.
    pub(in super::super) session: Option<Arc<str>>,
    /// The name: `Page.frameNavigated`.
    pub(in super::super) method: String,
    params: Box<RawValue>,
    _share: QueueShare,
}

impl BrowserEvent {
    pub(super) fn new(
        session: Option<Arc<str>>,
        method: String,
        params: Box<RawValue>,
        share: QueueShare,
    ) -> Self {
        Self { session, method, params, _share: share }
    }

    /// Parses the parameters. `None` if they are not as expected.
    pub(in super::super) fn parse<T: DeserializeOwned>(&self) -> Option<T> {
        match serde_json::from_str(self.params.get()) {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                tracing::warn!(method = self.method, %error, "unexpected event of the browser");
                None
            }
        }
    }
}
