//! Waits until a page is as complete as the request asks.

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::evaluate::ScriptError;
use super::open::OpenPage;
use super::state::PageState;
use crate::areas::snapshots::capture::limits::{NETWORK_IDLE, SELECTOR_PERIOD};
use crate::areas::snapshots::capture::request::WaitFor;

impl WaitFor {
    /// Returns the name of the condition in messages.
    pub(super) fn description(&self) -> &'static str {
        match self {
            Self::Load => "the load event",
            Self::DomContentLoaded => "the DOMContentLoaded event",
            Self::NetworkIdle => "an idle network",
            Self::Selector(_) => "an element that matches the selector",
        }
    }
}

impl OpenPage {
    /// Waits until the condition holds. Never returns if it never does.
    pub(super) async fn wait_until(&self, condition: &WaitFor) -> Result<(), ScriptError> {
        match condition {
            WaitFor::DomContentLoaded => self.wait_for_state(PageState::is_dom_loaded).await,
            WaitFor::Load => self.wait_for_state(PageState::is_loaded).await,
            WaitFor::NetworkIdle => self.wait_for_idle_network().await,
            WaitFor::Selector(selector) => return self.wait_for_element(selector).await,
        }
        Ok(())
    }

    async fn wait_for_state(&self, condition: impl Fn(&PageState) -> bool) {
        let mut state = self.state.clone();
        if state.wait_for(|state| condition(state)).await.is_err() {
            // The events have ended, and the capture does for that reason.
            std::future::pending::<()>().await;
        }
    }

    async fn wait_for_idle_network(&self) {
        loop {
            self.wait_for_state(PageState::is_quiet).await;
            let before = self.state.borrow().activity;
            let changed = self.wait_for_state(|state| state.activity != before);
            if timeout(NETWORK_IDLE, changed).await.is_err() {
                return;
            }
        }
    }

    async fn wait_for_element(&self, selector: &str) -> Result<(), ScriptError> {
        self.wait_for_state(PageState::is_dom_loaded).await;
        let expression = format!("document.querySelector({}) !== null", json!(selector));
        loop {
            match self.evaluate(&self.main_frame(), &expression).await {
                Ok(Value::Bool(true)) => return Ok(()),
                // The next document may have the element.
                Ok(_) | Err(ScriptError::FrameReplaced) => {}
                Err(error) => return Err(error),
            }
            sleep(SELECTOR_PERIOD).await;
        }
    }
}
