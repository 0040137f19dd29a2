//! Runs our scripts in the frames of a page.

use std::sync::Arc;

use serde_json::{Value, json};

use super::open::OpenPage;
use super::session_setup::WORLD;
use super::wire::{Evaluated, FrameTree, FrameTreeResult, WorldCreated};
use crate::areas::snapshots::capture::limits::FRAMES_MAX;
use crate::areas::snapshots::capture::protocol::ProtocolError;

/// A frame of a page.
#[derive(Clone, Debug)]
pub(super) struct PageFrame {
    session: Arc<str>,
    id: String,
}

/// Why a script has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScriptError {
    /// The frame shows another document now, or is gone.
    #[error("the frame was replaced")]
    FrameReplaced,
    /// The script failed.
    #[error("a script failed: {0}")]
    Thrown(String),
    /// The browser has ended.
    #[error(transparent)]
    Protocol(ProtocolError),
}

impl OpenPage {
    /// Returns the frames of the page: itself, then those within it.
    pub(super) async fn frames(&self) -> Result<Vec<PageFrame>, ScriptError> {
        let mut frames = self.frames_of(&self.session).await?;
        let others = self.state.borrow().frame_sessions.clone();
        for session in others {
            // A frame may be gone by now.
            frames.extend(self.frames_of(&session).await.unwrap_or_default());
        }
        frames.truncate(FRAMES_MAX);
        Ok(frames)
    }

    /// Returns the main frame.
    pub(super) fn main_frame(&self) -> PageFrame {
        let id = self.state.borrow().main_frame.clone().unwrap_or_default();
        PageFrame { session: Arc::clone(&self.session), id }
    }

    /// Evaluates an expression in a frame, and waits for its promise.
    pub(super) async fn evaluate(
        &self,
        frame: &PageFrame,
        expression: &str,
    ) -> Result<Value, ScriptError> {
        let session = &*frame.session;
        let params = json!({ "frameId": frame.id, "worldName": WORLD });
        let world: WorldCreated =
            self.call_session(session, "Page.createIsolatedWorld", params).await?;
        let params = json!({
            "expression": expression,
            "contextId": world.execution_context_id,
            "awaitPromise": true,
            "returnByValue": true,
            "silent": true,
        });
        let evaluated: Evaluated = self.call_session(session, "Runtime.evaluate", params).await?;
        match evaluated.exception_details {
            None => Ok(evaluated.result.value),
            Some(thrown) => {
                let description = thrown.exception.and_then(|exception| exception.description);
                Err(ScriptError::Thrown(description.unwrap_or(thrown.text)))
            }
        }
    }

    async fn frames_of(&self, session: &Arc<str>) -> Result<Vec<PageFrame>, ScriptError> {
        let found: FrameTreeResult =
            self.call_session(session, "Page.getFrameTree", json!({})).await?;
        let mut frames = Vec::new();
        collect(found.frame_tree, session, &mut frames);
        Ok(frames)
    }
}

impl From<ProtocolError> for ScriptError {
    fn from(error: ProtocolError) -> Self {
        match error {
            // "Cannot find context", "Execution context was destroyed", "No frame for given id".
            ProtocolError::Refused { .. } => Self::FrameReplaced,
            other => Self::Protocol(other),
        }
    }
}

fn collect(tree: FrameTree, session: &Arc<str>, frames: &mut Vec<PageFrame>) {
    frames.push(PageFrame { session: Arc::clone(session), id: tree.frame.id });
    for child in tree.child_frames {
        collect(child, session, frames);
    }
}
