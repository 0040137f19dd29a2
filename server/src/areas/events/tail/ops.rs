//! Waits for new events.

use std::time::Duration;

use telltale_engine::EventTailPage;
use tokio::time::{sleep, timeout};

use super::model::{Tail, TailRequest};
use crate::app::App;
use crate::areas::events::error::EventsError;
use crate::areas::events::limits;

/// Returns the next events; if there are none yet, waits for them, but not longer than the request
/// says and than the server runs.
pub(super) async fn follow(app: &App, request: &TailRequest) -> Result<Tail, EventsError> {
    let mut follower = Follower::new(app, request);
    let page = timeout(request.wait, follower.next()).await;
    let page = match page {
        Ok(page) => page?,
        Err(_) => follower.read()?,
    };
    Ok(Tail { page, is_restarted: follower.is_restarted })
}

/// A request and how far it has read.
struct Follower<'a> {
    app: &'a App,
    request: &'a TailRequest,
    after: u64,
    is_restarted: bool,
}

impl<'a> Follower<'a> {
    fn new(app: &'a App, request: &'a TailRequest) -> Self {
        let known = request.after.map(|cursor| app.event_followers().position(cursor));
        let after = known.flatten().unwrap_or_else(|| app.engine().event_tail_position());
        Self { app, request, after, is_restarted: known == Some(None) }
    }

    /// Returns the next events once there are any.
    async fn next(&mut self) -> Result<EventTailPage, EventsError> {
        let mut signal = self.app.event_followers().signal();
        loop {
            let is_ended = signal.borrow_and_update().is_ended;
            let page = self.read()?;
            if is_ended || self.is_restarted || page.missed > 0 || !page.events.is_empty() {
                return Ok(page);
            }
            if signal.changed().await.is_err() {
                return Ok(page);
            }
            if !signal.borrow().is_ended {
                sleep(Duration::from_millis(limits::TAIL_PAUSE_MS)).await;
            }
        }
    }

    /// Reads the events up to now. Those that do not match are not read again.
    fn read(&mut self) -> Result<EventTailPage, EventsError> {
        let TailRequest { filter, limit, .. } = self.request;
        let page = self.app.engine().event_tail(filter, self.after, *limit)?;
        if page.events.is_empty() && page.missed == 0 {
            self.after = page.next;
        }
        Ok(page)
    }
}
