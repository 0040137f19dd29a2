//! Makes a page stand still: its animations, its caret, its fonts and images.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::evaluate::{PageFrame, ScriptError};
use super::open::OpenPage;
use crate::areas::snapshots::capture::limits::SETTLE_MS;
use crate::areas::snapshots::capture::request::CaptureRequest;

/// Defines `settler`, once in each frame, before the page's own scripts run.
pub(super) const SETTLE_SCRIPT: &str = include_str!("settle.js");

/// What is done in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettleStep {
    /// Scrolls down and up again, so that the page loads what is below.
    ScrollThrough {
        /// CSS pixels, at most.
        height_max: u32,
    },
    /// Stops what moves, and waits for fonts and images.
    Settle,
    /// Keeps what is stuck to the viewport where it is at the top of the page.
    Unstick,
    /// Stops what has begun to move since, and paints masks.
    BeforeShot,
}

impl SettleStep {
    fn expression(self, request: &CaptureRequest) -> String {
        let call = match self {
            Self::ScrollThrough { height_max } => format!("settler.scrollThrough({height_max})"),
            Self::Settle => {
                let hidden = json!(request.hidden());
                format!("settler.settle({hidden}, {SETTLE_MS})")
            }
            Self::Unstick => "settler.unstick()".to_owned(),
            Self::BeforeShot => format!("settler.beforeShot({})", json!(request.masked())),
        };
        // A frame that was never navigated has not run the script.
        format!("{SETTLE_SCRIPT}\n{call}")
    }
}

impl OpenPage {
    /// Returns the first selector of a request that is not valid. Uses the page, which is empty
    /// yet.
    pub(super) async fn invalid_selector(
        &self,
        selectors: &[&str],
    ) -> Result<Option<String>, ScriptError> {
        if selectors.is_empty() {
            return Ok(None);
        }
        let expression = format!("{SETTLE_SCRIPT}\nsettler.invalidSelector({})", json!(selectors));
        let found = self.evaluate(&self.main_frame(), &expression).await?;
        Ok(found.as_str().map(str::to_owned))
    }

    /// Does a step in all frames. Those that are replaced meanwhile, except the main frame, are
    /// left as they are.
    pub(super) async fn settle_frames(
        &self,
        step: SettleStep,
        request: &CaptureRequest,
    ) -> Result<(), ScriptError> {
        let expression = step.expression(request);
        let frames = self.frames().await?;
        let [main, others @ ..] = frames.as_slice() else {
            return Err(ScriptError::FrameReplaced);
        };
        let others = others.iter().map(|frame| self.evaluate(frame, &expression));
        let (main, others) = tokio::join!(self.evaluate(main, &expression), join_all(others));
        for failed in others.iter().filter_map(|result| result.as_ref().err()) {
            tracing::debug!(error = %failed, ?step, "a frame was not settled");
        }
        main.map(drop)
    }

    /// Does a step in one frame.
    pub(super) async fn settle_frame(
        &self,
        frame: &PageFrame,
        step: SettleStep,
        request: &CaptureRequest,
    ) -> Result<Value, ScriptError> {
        self.evaluate(frame, &step.expression(request)).await
    }
}
