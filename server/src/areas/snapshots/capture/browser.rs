//! The browser: one process at a time, replaced when it is old or has ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};

use super::error::CaptureError;
use super::page::{Capture, PageCapture};
use super::process::{BrowserProcess, delete_stale_profiles, find_executable};
use super::request::CaptureRequest;
use super::settings::BrowserSettings;
use crate::platform::ticks::Ticks;
use crate::platform::vetting_proxy::Dial;

/// Captures pages. The process is started by the first capture, and killed with everything that it
/// has started when it is replaced and its captures have ended, or when this is dropped.
pub struct Browser {
    settings: BrowserSettings,
    dialler: Arc<dyn Dial>,
    slots: Arc<Semaphore>,
    process: Mutex<BrowserSlot>,
}

#[derive(Debug, Default)]
struct BrowserSlot {
    current: Option<Arc<BrowserProcess>>,
    /// Since when no capture has ended.
    rests: Option<Ticks>,
    is_cleaned: bool,
    is_closed: bool,
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Browser {
    /// Returns a browser that makes as many captures at once as there are permits, and whose pages
    /// reach what `dialler` connects to.
    pub fn new(settings: BrowserSettings, dialler: Arc<dyn Dial>, slots: Arc<Semaphore>) -> Self {
        Self { settings, dialler, slots, process: Mutex::default() }
    }

    /// Captures a page. Waits for a permit first; that time, and the start of the browser, are not
    /// part of the limit of the capture.
    ///
    /// When the future is dropped, the capture ends.
    pub async fn capture(&self, request: &CaptureRequest) -> Result<Capture, CaptureError> {
        let closed = || CaptureError::unavailable("the browser is closed");
        let _slot = self.slots.acquire().await.map_err(|_| closed())?;
        let process = self.process().await?;
        let watch = Ticks::system();
        let dialler = Arc::clone(&self.dialler);
        let captured = Box::pin(PageCapture::run(&process, dialler, request)).await;
        self.release(process).await;
        captured.map(|capture| Capture { duration: watch.elapsed(), ..capture })
    }

    /// Fails if there is no browser that could be started.
    pub fn check_executable(&self) -> Result<(), CaptureError> {
        find_executable(&self.settings).map(drop)
    }

    /// Returns the number of the current process, which leads a process group of this number.
    pub async fn process_id(&self) -> Option<u32> {
        self.process.lock().await.current.as_ref().and_then(|process| process.id())
    }

    /// Kills the process if it made no capture for a while: it holds memory. The next capture
    /// starts another one.
    pub async fn end_if_idle(&self, idle: Duration) {
        let process = {
            let mut slot = self.process.lock().await;
            let is_idle = slot.rests.as_ref().is_some_and(|rests| rests.elapsed() >= idle);
            let is_used = slot.current.as_ref().is_some_and(|of| Arc::strong_count(of) > 1);
            if !is_idle || is_used {
                return;
            }
            slot.current.take()
        };
        if let Some(process) = process {
            end_if_last(process).await;
        }
    }

    /// Ends the browser: kills its process once the captures that run have ended. Later captures
    /// are refused.
    pub async fn close(&self) {
        let process = {
            let mut slot = self.process.lock().await;
            slot.is_closed = true;
            slot.current.take()
        };
        if let Some(process) = process {
            end_if_last(process).await;
        }
    }

    /// Returns a process that can make another capture.
    async fn process(&self) -> Result<Arc<BrowserProcess>, CaptureError> {
        let mut slot = self.process.lock().await;
        if slot.is_closed {
            return Err(CaptureError::unavailable("the browser is closed"));
        }
        if let Some(process) = &slot.current {
            if process.count_capture() {
                return Ok(Arc::clone(process));
            }
            if let Some(old) = slot.current.take() {
                end_if_last(old).await;
            }
        }
        if !slot.is_cleaned {
            let root = self.settings.profile_root.clone();
            // Only fails if the runtime shuts down.
            drop(tokio::task::spawn_blocking(move || delete_stale_profiles(&root)).await);
            slot.is_cleaned = true;
        }
        let process = Arc::new(BrowserProcess::start(&self.settings).await?);
        process.count_capture();
        slot.current = Some(Arc::clone(&process));
        Ok(process)
    }

    /// Gives a process back after a capture.
    async fn release(&self, process: Arc<BrowserProcess>) {
        let ended = {
            let mut slot = self.process.lock().await;
            slot.rests = Some(Ticks::system());
            let is_current =
                slot.current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &process));
            if is_current && process.commands().is_closed() { slot.current.take() } else { None }
        };
        drop(ended);
        end_if_last(process).await;
    }
}

/// Ends a process unless others use it. Killing and deleting block for some milliseconds.
async fn end_if_last(process: Arc<BrowserProcess>) {
    if let Some(process) = Arc::into_inner(process) {
        // Only fails if the runtime shuts down, and then the process is dropped too.
        drop(tokio::task::spawn_blocking(move || drop(process)).await);
    }
}
