//! Handles the events of a page: keeps its state, and answers what needs an answer.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use url::{Origin, Url};

use super::session_setup::{SetupCommand, frame_commands, worker_commands};
use super::state::{PageEnd, PageState};
use super::wire::{
    AuthRequired, FrameNavigated, LifecycleEvent, LoadingEnded, LoadingStopped, RequestPaused,
    RequestWillBeSent, ResponseReceived, TargetAttached, TargetDetached,
};
use crate::areas::snapshots::capture::protocol::{BrowserEvent, CommandSender};
use crate::areas::snapshots::capture::request::{CaptureRequest, is_page_scheme};

/// Schemes of requests, beside those of pages, that reach nothing but the page itself.
const INNER_SCHEMES: [&str; 3] = ["data", "blob", "about"];

/// Handles the events of a page.
#[derive(Debug)]
pub(super) struct PageEvents {
    commands: CommandSender,
    state: watch::Sender<PageState>,
    origin: Origin,
    /// Names and values of headers for requests to the origin.
    headers: Vec<(String, String)>,
}

impl PageEvents {
    pub(super) fn new(
        commands: CommandSender,
        state: watch::Sender<PageState>,
        request: &CaptureRequest,
    ) -> Self {
        let header = |header: &crate::areas::snapshots::capture::user_header::PageHeader| {
            (header.name().to_owned(), header.value().to_owned())
        };
        let headers = request.page_headers().iter().map(header).collect();
        Self { commands, state, origin: request.url().origin(), headers }
    }

    /// Handles the events until they end.
    pub(super) async fn run(self, mut events: mpsc::Receiver<BrowserEvent>) {
        while let Some(event) = events.recv().await {
            self.handle(&event);
        }
        let is_lost = self.commands.is_closed();
        let end = if is_lost { PageEnd::ConnectionLost } else { PageEnd::Overrun };
        self.state.send_modify(|state| state.end(end));
    }

    fn handle(&self, event: &BrowserEvent) {
        match event.method.as_str() {
            "Target.attachedToTarget" => self.attached(event),
            "Target.detachedFromTarget" => {
                self.change(event, |state, detached: TargetDetached| {
                    state.session_ended(&detached.session_id);
                });
            }
            "Inspector.targetCrashed" => {
                self.state.send_modify(|state| state.end(PageEnd::Crashed));
            }
            "Page.javascriptDialogOpening" => {
                self.answer(event, "Page.handleJavaScriptDialog", &json!({ "accept": false }));
            }
            "Page.frameNavigated" => {
                let is_page = self.state.borrow().session == event.session;
                self.change(event, |state, navigated: FrameNavigated| {
                    if is_page {
                        state.frame_navigated(navigated.frame);
                    }
                });
            }
            "Page.lifecycleEvent" => {
                self.change(event, |state, lifecycle: LifecycleEvent| {
                    state.lifecycle(&lifecycle.loader_id, &lifecycle.name);
                });
            }
            "Page.frameStoppedLoading" => {
                self.change(event, |state, stopped: LoadingStopped| {
                    state.loading_stopped(&stopped.frame_id);
                });
            }
            "Network.requestWillBeSent" => {
                let session = event.session.clone();
                self.change(event, |state, began: RequestWillBeSent| {
                    state.request_began(session, began);
                });
            }
            "Network.responseReceived" => {
                self.change(event, |state, received: ResponseReceived| {
                    state.response_received(&received);
                });
            }
            "Network.loadingFinished" | "Network.loadingFailed" => {
                self.change(event, |state, ended: LoadingEnded| state.request_ended(ended));
            }
            "Fetch.requestPaused" => self.request_paused(event),
            "Fetch.authRequired" => {
                if let Some(auth) = event.parse::<AuthRequired>() {
                    let response = json!({ "response": "CancelAuth" });
                    let params = json!({
                        "requestId": auth.request_id,
                        "authChallengeResponse": response,
                    });
                    self.answer(event, "Fetch.continueWithAuth", &params);
                }
            }
            _ => {}
        }
    }

    fn change<T: serde::de::DeserializeOwned>(
        &self,
        event: &BrowserEvent,
        change: impl FnOnce(&mut PageState, T),
    ) {
        if let Some(parsed) = event.parse() {
            self.state.send_modify(|state| change(state, parsed));
        }
    }

    fn answer(&self, event: &BrowserEvent, method: &'static str, params: &Value) {
        self.commands.notify(event.session.as_deref(), method, params);
    }

    /// Prepares a new frame or worker; closes a new page.
    fn attached(&self, event: &BrowserEvent) {
        let Some(attached) = event.parse::<TargetAttached>() else { return };
        let session: Arc<str> = attached.session_id.into();
        let target = attached.target_info;
        match target.kind.as_str() {
            "page" => self.page_attached(session, &target.target_id),
            "iframe" => {
                self.set_up(&session, &frame_commands());
                self.state.send_modify(|state| {
                    state.frame_sessions.insert(session);
                });
            }
            _ => self.set_up(&session, &worker_commands()),
        }
    }

    /// The first page is the one to capture: the context is new. Others are popups.
    fn page_attached(&self, session: Arc<str>, target: &str) {
        let is_first = self.state.send_if_modified(|state| {
            let is_first = state.session.is_none();
            if is_first {
                state.main_frame = Some(target.to_owned());
                state.session = Some(session);
            }
            is_first
        });
        let is_popup = !is_first && self.state.borrow().main_frame.as_deref() != Some(target);
        if is_popup {
            let params = json!({ "targetId": target });
            self.commands.notify(None, "Target.closeTarget", &params);
        }
    }

    fn set_up(&self, session: &str, commands: &[SetupCommand]) {
        for (method, params) in commands {
            self.commands.notify(Some(session), method, params);
        }
        self.commands.notify(Some(session), "Runtime.runIfWaitingForDebugger", &json!({}));
    }

    /// Continues a request, with the headers of the capture if it goes to the origin of the page.
    /// Fails one of a scheme that might reach the machine or the browser itself.
    fn request_paused(&self, event: &BrowserEvent) {
        let Some(paused) = event.parse::<RequestPaused>() else { return };
        let id = paused.request_id;
        let url = Url::parse(&paused.request.url).ok();
        let is_allowed = url.as_ref().is_some_and(|url| {
            is_page_scheme(url.scheme()) || INNER_SCHEMES.contains(&url.scheme())
        });
        if !is_allowed {
            let is_page = paused.resource_type == "Document"
                && paused.frame_id == self.state.borrow().main_frame;
            if is_page {
                let blocked = PageEnd::Blocked(paused.request.url);
                self.state.send_modify(|state| state.end(blocked));
            }
            let params = json!({ "requestId": id, "errorReason": "BlockedByClient" });
            self.answer(event, "Fetch.failRequest", &params);
            return;
        }
        let is_own = url.is_some_and(|url| url.origin() == self.origin);
        if !is_own || self.headers.is_empty() {
            self.answer(event, "Fetch.continueRequest", &json!({ "requestId": id }));
            return;
        }
        let is_kept =
            |name: &str| !self.headers.iter().any(|(own, _)| name.eq_ignore_ascii_case(own));
        let kept = paused.request.headers.iter().filter(|(name, _)| is_kept(name));
        let headers: Vec<Value> = kept
            .chain(self.headers.iter().map(|(name, value)| (name, value)))
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let params = json!({ "requestId": id, "headers": headers });
        self.answer(event, "Fetch.continueRequest", &params);
    }
}
