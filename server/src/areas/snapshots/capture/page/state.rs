//! What is known about a page, from its events.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::wire::{Frame, LoadingEnded, RequestWillBeSent, ResponseReceived};
use crate::areas::snapshots::capture::limits::{ID_BYTES_MAX, IDS_MAX};

/// Requests that by design end late or never, and say nothing about whether a page is complete.
const ENDLESS: [&str; 3] = ["EventSource", "Media", "Ping"];

/// Requests of other schemes are answered by the browser itself, or handed to another program: of
/// the latter, Chromium reports no end.
const SCHEMES: [&str; 2] = ["http:", "https:"];

/// What is known about a page.
#[derive(Debug, Default)]
pub(super) struct PageState {
    /// The session of the page.
    pub(super) session: Option<Arc<str>>,
    /// The main frame of the page, which has the identifier of its target.
    pub(super) main_frame: Option<String>,
    /// The sessions of frames that are in other processes.
    pub(super) frame_sessions: BTreeSet<Arc<str>>,
    /// The document that is shown, identified by its load. `None` until one replaces the empty one.
    loader: Option<String>,
    is_dom_loaded: bool,
    is_loaded: bool,
    /// The requests that run, with the session in which they were made.
    requests: HashMap<String, Option<Arc<str>>>,
    /// Grows with each request that begins or ends.
    pub(super) activity: u64,
    /// The last request for a document, shown or not.
    document: DocumentRequest,
    /// The request for the document that is shown.
    shown: DocumentRequest,
    /// Why the capture cannot go on.
    pub(super) end: Option<PageEnd>,
}

/// A request for a document of the page itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DocumentRequest {
    id: String,
    /// The URL, after redirects.
    pub(super) url: String,
    /// The status of the response.
    pub(super) status: Option<u16>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

/// Why the capture of a page cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageEnd {
    /// The browser ended.
    ConnectionLost,
    /// Too many events waited.
    Overrun,
    /// The process of the page ended.
    Crashed,
    /// The page was closed.
    Closed,
    /// An error page is shown.
    NavigationFailed,
    /// The page was about to be replaced by one of another scheme.
    Blocked(String),
}

impl PageState {
    /// Returns whether the HTML of the document was read.
    pub(super) fn is_dom_loaded(&self) -> bool {
        self.loader.is_some() && self.is_dom_loaded
    }

    /// Returns whether the document was loaded.
    pub(super) fn is_loaded(&self) -> bool {
        self.loader.is_some() && self.is_loaded
    }

    /// Returns whether the document was loaded and no request runs.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_loaded() && self.requests.is_empty()
    }

    /// Returns the last request for a document.
    pub(super) fn document(&self) -> &DocumentRequest {
        &self.document
    }

    /// Returns the request for the document that is shown.
    pub(super) fn shown(&self) -> &DocumentRequest {
        &self.shown
    }

    /// Ends the page, unless it has ended.
    pub(super) fn end(&mut self, end: PageEnd) {
        self.end.get_or_insert(end);
    }

    /// Notes that the page shows another document.
    pub(super) fn frame_navigated(&mut self, frame: Frame) {
        let is_empty_page = self.loader.is_none() && frame.url == "about:blank";
        if frame.parent_id.is_some() || is_empty_page {
            return;
        }
        if frame.unreachable_url.is_some() {
            self.end(PageEnd::NavigationFailed);
        }
        if self.loader.as_deref() == Some(&frame.loader_id) {
            return;
        }
        // Requests of the document before have ended, whether or not that is reported.
        let loader = &frame.loader_id;
        self.requests.retain(|id, _| id == loader);
        self.activity += 1;
        (self.is_dom_loaded, self.is_loaded) = (false, false);
        if self.document.id == frame.loader_id {
            self.shown = self.document.clone();
        }
        self.loader = Some(frame.loader_id);
    }

    /// Notes a lifecycle event of the document.
    pub(super) fn lifecycle(&mut self, loader: &str, name: &str) {
        if self.loader.as_deref() != Some(loader) {
            return;
        }
        match name {
            "DOMContentLoaded" => self.is_dom_loaded = true,
            "load" => self.is_loaded = true,
            _ => {}
        }
    }

    /// Notes that a frame loads nothing more. A document whose loading was stopped, by a navigation
    /// to another program for instance, has no other events.
    pub(super) fn loading_stopped(&mut self, frame: &str) {
        if self.loader.is_some() && self.main_frame.as_deref() == Some(frame) {
            (self.is_dom_loaded, self.is_loaded) = (true, true);
        }
    }

    /// Notes that a request begins, or is redirected.
    pub(super) fn request_began(&mut self, session: Option<Arc<str>>, event: RequestWillBeSent) {
        let is_of_network = SCHEMES.iter().any(|scheme| event.request.url.starts_with(scheme));
        let is_document = event.kind == "Document" && event.request_id == event.loader_id;
        if is_document && event.frame_id.is_some() && event.frame_id == self.main_frame {
            self.document = DocumentRequest {
                id: event.request_id.clone(),
                url: event.request.url,
                ..DocumentRequest::default()
            };
        }
        let is_kept = event.request_id.len() <= ID_BYTES_MAX && self.requests.len() < IDS_MAX;
        if is_kept && is_of_network && !ENDLESS.contains(&event.kind.as_str()) {
            self.activity += 1;
            self.requests.insert(event.request_id, session);
        }
    }

    /// Notes that the head of a response arrived.
    pub(super) fn response_received(&mut self, event: &ResponseReceived) {
        for document in [&mut self.document, &mut self.shown] {
            if document.id == event.request_id {
                document.status = Some(event.response.status);
            }
        }
    }

    /// Notes that a request has ended.
    pub(super) fn request_ended(&mut self, event: LoadingEnded) {
        if self.document.id == event.request_id && !event.error_text.is_empty() {
            self.document.error = Some(event.error_text);
        }
        if self.requests.remove(&event.request_id).is_some() {
            self.activity += 1;
        }
    }

    /// Notes that a frame or worker is gone.
    pub(super) fn session_ended(&mut self, session: &str) {
        self.frame_sessions.remove(session);
        let before = self.requests.len();
        self.requests.retain(|_, of| of.as_deref() != Some(session));
        self.activity += u64::from(before != self.requests.len());
        if self.session.as_deref() == Some(session) {
            self.end(PageEnd::Closed);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parse<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn began(state: &mut PageState, id: &str, loader: &str, kind: &str) {
        let event = json!({
            "requestId": id, "loaderId": loader, "frameId": "main", "type": kind,
            "request": { "url": format!("http://a.example/{id}") },
        });
        state.request_began(None, parse(event));
    }

    fn responded(state: &mut PageState, id: &str, status: u16) {
        let event = json!({ "requestId": id, "response": { "status": status } });
        state.response_received(&parse(event));
    }

    fn ended(state: &mut PageState, id: &str) {
        state.request_ended(parse(json!({ "requestId": id })));
    }

    fn shows(state: &mut PageState, loader: &str, url: &str) {
        state.frame_navigated(parse(json!({ "id": "main", "loaderId": loader, "url": url })));
    }

    fn new_page() -> PageState {
        PageState { main_frame: Some("main".to_owned()), ..PageState::default() }
    }

    #[test]
    fn a_page_is_quiet_when_its_own_requests_have_ended() {
        let mut state = new_page();
        shows(&mut state, "0", "about:blank");
        state.lifecycle("0", "load");
        assert!(!state.is_loaded(), "the empty page");
        began(&mut state, "1", "1", "Document");
        responded(&mut state, "1", 200);
        shows(&mut state, "1", "http://a.example/");
        began(&mut state, "image", "1", "Image");
        began(&mut state, "stream", "1", "EventSource");
        ended(&mut state, "1");
        state.lifecycle("1", "DOMContentLoaded");
        assert!(state.is_dom_loaded() && !state.is_loaded());
        state.lifecycle("1", "load");
        assert!(state.is_loaded() && !state.is_quiet());
        let before = state.activity;
        ended(&mut state, "image");
        assert!(state.is_quiet() && state.activity > before);
        let mail = json!({
            "requestId": "mail", "loaderId": "mail", "frameId": "main", "type": "Document",
            "request": { "url": "mailto:a@b.example" },
        });
        state.request_began(None, parse(mail));
        assert!(state.is_quiet(), "another program opens it");
        // The next document takes the requests of this one with it.
        began(&mut state, "late", "1", "Fetch");
        began(&mut state, "2", "2", "Document");
        shows(&mut state, "2", "http://a.example/2");
        assert!(!state.is_dom_loaded() && !state.is_loaded());
        ended(&mut state, "2");
        state.lifecycle("1", "load");
        assert!(!state.is_loaded(), "of the document before");
        state.lifecycle("2", "load");
        assert!(state.is_quiet());
    }

    #[test]
    fn the_status_is_that_of_the_document_that_is_shown() {
        let mut state = new_page();
        began(&mut state, "1", "1", "Document");
        shows(&mut state, "1", "http://a.example/1");
        responded(&mut state, "1", 404);
        began(&mut state, "download", "download", "Document");
        responded(&mut state, "download", 200);
        assert_eq!((state.shown().status, state.document().status), (Some(404), Some(200)));
    }
}
