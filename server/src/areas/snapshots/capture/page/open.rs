//! Opens a page in a browser context of its own, and closes both.

use std::sync::Arc;

use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::events::PageEvents;
use super::session_setup::page_commands;
use super::state::PageState;
use super::wire::{ContextCreated, Done};
use crate::areas::snapshots::capture::error::CaptureError;
use crate::areas::snapshots::capture::limits::{
    DISPOSE_TIMEOUT, PROXY_BYTES_MAX, PROXY_CONNECTIONS_MAX,
};
use crate::areas::snapshots::capture::process::BrowserProcess;
use crate::areas::snapshots::capture::protocol::{ContextRoute, ProtocolError};
use crate::areas::snapshots::capture::request::CaptureRequest;
use crate::platform::vetting_proxy::{Dial, ProxyLimits, VettingProxy};

/// The limits of the proxy of a page.
const LIMITS: ProxyLimits =
    ProxyLimits { bytes_max: PROXY_BYTES_MAX, connections_max: PROXY_CONNECTIONS_MAX };

/// A page, still empty, in a browser context with a proxy of its own. When it is dropped, the
/// context is disposed of.
#[derive(Debug)]
pub(super) struct OpenPage {
    pub(super) state: watch::Receiver<PageState>,
    pub(super) proxy: VettingProxy,
    pub(super) session: Arc<str>,
    context: BrowserContext,
}

/// A browser context. Disposed of when dropped.
#[derive(Debug)]
struct BrowserContext {
    process: Arc<BrowserProcess>,
    id: String,
    is_disposed: bool,
    route: Option<ContextRoute>,
    events: Option<AbortHandle>,
}

impl OpenPage {
    /// Opens a page and prepares it.
    pub(super) async fn open(
        process: &Arc<BrowserProcess>,
        dialler: Arc<dyn Dial>,
        request: &CaptureRequest,
    ) -> Result<Self, CaptureError> {
        let proxy = VettingProxy::start(dialler, LIMITS).await.map_err(|error| {
            CaptureError::unavailable(format!("the proxy cannot be started: {error}"))
        })?;
        let mut context = BrowserContext::create(process, &proxy).await?;
        let (route, events) = process.commands().route(context.id.clone());
        context.route = Some(route);
        let state = watch::Sender::new(PageState::default());
        let mut receiver = state.subscribe();
        let handler = PageEvents::new(process.commands().clone(), state, request);
        context.events = Some(tokio::spawn(handler.run(events)).abort_handle());
        context.deny().await?;
        let viewport = request.viewport();
        let params = json!({
            "url": "about:blank",
            "browserContextId": context.id,
            "width": viewport.width(),
            "height": viewport.height(),
        });
        let _: Done = process.commands().call(None, "Target.createTarget", params).await?;
        let attached = receiver.wait_for(|state| state.session.is_some() || state.end.is_some());
        let session = attached.await.ok().and_then(|state| state.session.clone());
        let session = session.ok_or_else(CaptureError::process_ended)?;
        let page = Self { state: receiver, proxy, session, context };
        page.prepare(request).await?;
        Ok(page)
    }

    /// Sends a command to the page.
    pub(super) async fn call<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, ProtocolError> {
        self.call_session(&self.session, method, params).await
    }

    /// Sends a command to the page or one of its frames.
    pub(super) async fn call_session<T: serde::de::DeserializeOwned>(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
    ) -> Result<T, ProtocolError> {
        self.context.process.commands().call(Some(session), method, params).await
    }

    /// Closes the page and disposes of its context. A process that does not do so in time makes no
    /// further captures.
    pub(super) async fn close(mut self) {
        let context = &mut self.context;
        let params = json!({ "browserContextId": context.id });
        let commands = context.process.commands();
        let disposing = commands.call::<Done>(None, "Target.disposeBrowserContext", params);
        context.is_disposed = true;
        match timeout(DISPOSE_TIMEOUT, disposing).await {
            Ok(Ok(_) | Err(ProtocolError::Closed)) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "a page could not be closed");
                context.process.mark_broken();
            }
            Err(_) => {
                tracing::warn!("the browser does not close a page");
                context.process.mark_broken();
            }
        }
    }

    async fn prepare(&self, request: &CaptureRequest) -> Result<(), ProtocolError> {
        let commands = page_commands(request.viewport());
        // Chromium runs them in order.
        let calls = commands.into_iter().map(|(method, params)| self.call::<Done>(method, params));
        try_join_all(calls).await?;
        let cookies: Vec<Value> = request
            .page_cookies()
            .iter()
            .map(|cookie| {
                let url = request.url().as_str();
                json!({ "name": cookie.name(), "value": cookie.value(), "url": url })
            })
            .collect();
        if !cookies.is_empty() {
            let _: Done = self.call("Network.setCookies", json!({ "cookies": cookies })).await?;
        }
        let _: Done = self.call("Runtime.runIfWaitingForDebugger", json!({})).await?;
        Ok(())
    }
}

impl BrowserContext {
    async fn create(
        process: &Arc<BrowserProcess>,
        proxy: &VettingProxy,
    ) -> Result<Self, ProtocolError> {
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": proxy.url(),
            "proxyBypassList": "<-loopback>",
        });
        let commands = process.commands();
        let created: ContextCreated =
            commands.call(None, "Target.createBrowserContext", params).await?;
        Ok(Self {
            process: Arc::clone(process),
            id: created.browser_context_id,
            is_disposed: false,
            route: None,
            events: None,
        })
    }

    /// Denies downloads and all permissions.
    async fn deny(&self) -> Result<(), ProtocolError> {
        let commands = self.process.commands();
        let downloads = json!({ "behavior": "deny", "browserContextId": self.id });
        // Grants none, which denies the others.
        let permissions = json!({ "permissions": [], "browserContextId": self.id });
        let (denied, granted) = tokio::join!(
            commands.call::<Done>(None, "Browser.setDownloadBehavior", downloads),
            commands.call::<Done>(None, "Browser.grantPermissions", permissions),
        );
        denied.and(granted).map(drop)
    }
}

impl Drop for BrowserContext {
    fn drop(&mut self) {
        if let Some(events) = &self.events {
            events.abort();
        }
        self.route.take();
        if !self.is_disposed {
            let params = json!({ "browserContextId": self.id });
            self.process.commands().notify(None, "Target.disposeBrowserContext", &params);
        }
    }
}
