//! The course of a capture.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::evaluate::ScriptError;
use super::open::OpenPage;
use super::settle::SettleStep;
use super::shots::{Capture, ImageError, PageImage};
use super::wire::{FrameTreeResult, Navigated};
use crate::areas::snapshots::capture::error::CaptureError;
use crate::areas::snapshots::capture::limits::{CRASH_REPORT, IMAGE_HEIGHT_MAX};
use crate::areas::snapshots::capture::process::BrowserProcess;
use crate::areas::snapshots::capture::request::{CaptureRequest, PageArea, WaitFor};
use crate::platform::ticks::Ticks;
use crate::platform::vetting_proxy::Dial;

/// How often a capture begins anew because the page was replaced while it settled.
const REPLACEMENTS_MAX: usize = 5;

/// A capture that runs.
#[derive(Debug)]
pub(in super::super) struct PageCapture<'a> {
    page: &'a OpenPage,
    request: &'a CaptureRequest,
    /// What is waited for, for messages.
    waits_for: Mutex<&'static str>,
}

impl PageCapture<'_> {
    /// Captures a page. Its duration is left to the caller.
    pub(in super::super) async fn run(
        process: &Arc<BrowserProcess>,
        dialler: Arc<dyn Dial>,
        request: &CaptureRequest,
    ) -> Result<Capture, CaptureError> {
        let limit = request.time_limit();
        let watch = Ticks::system();
        let opening = OpenPage::open(process, dialler, request);
        let page = match timeout(limit, opening).await {
            Ok(opened) => opened?,
            Err(_) => {
                process.mark_broken();
                return Err(CaptureError::timed_out("opening a page", limit));
            }
        };
        let capture = PageCapture { page: &page, request, waits_for: Mutex::new("the response") };
        let left = limit.saturating_sub(watch.elapsed());
        let captured = tokio::select! {
            biased;
            ended = capture.ended() => Err(ended),
            () = process.guard_memory() => Err(CaptureError::process_ended()),
            captured = timeout(left, capture.capture()) => {
                let late = || CaptureError::timed_out(*capture.waits_for.lock(), limit);
                captured.unwrap_or_else(|_| Err(late()))
            }
        };
        page.close().await;
        captured
    }

    /// Waits until the capture cannot go on, and returns why.
    async fn ended(&self) -> CaptureError {
        let mut exhaustion = self.page.proxy.exhaustion();
        let mut state = self.page.state.clone();
        let ended = async {
            match state.wait_for(|state| state.end.is_some()).await {
                Ok(state) => state.end.clone().map(|end| (end, state.document().clone())),
                Err(_) => None,
            }
        };
        tokio::select! {
            _ = exhaustion.wait_for(|is_exhausted| *is_exhausted) => {
                CaptureError::traffic_too_large()
            }
            ended = ended => match ended {
                Some((end, document)) => {
                    CaptureError::page_ended(end, &document, &self.page.proxy)
                }
                None => CaptureError::process_ended(),
            },
        }
    }

    async fn capture(&self) -> Result<Capture, CaptureError> {
        self.check_selectors().await?;
        self.navigate().await?;
        let image = self.settled_image().await?;
        let found: FrameTreeResult = self.page.call("Page.getFrameTree", json!({})).await?;
        let frame = found.frame_tree.frame;
        let http_status = self.page.state.borrow().shown().status;
        Ok(Capture {
            png: image.png,
            width: image.width,
            height: image.height,
            http_status,
            url: frame.url + frame.url_fragment.as_deref().unwrap_or_default(),
            is_truncated: image.is_truncated,
            is_unstable: image.is_unstable,
            duration: Duration::ZERO,
            traffic: self.page.proxy.counts(),
        })
    }

    async fn check_selectors(&self) -> Result<(), CaptureError> {
        let lists = self.request.hidden().iter().chain(self.request.masked());
        let awaited = match self.request.condition() {
            WaitFor::Selector(selector) => Some(selector),
            _ => None,
        };
        let selectors: Vec<&str> = lists.chain(awaited).map(String::as_str).collect();
        match self.page.invalid_selector(&selectors).await.map_err(script_failed)? {
            Some(selector) => Err(CaptureError::InvalidSelector { selector }),
            None => Ok(()),
        }
    }

    async fn navigate(&self) -> Result<(), CaptureError> {
        let params = json!({ "url": self.request.url().as_str() });
        let navigated: Navigated = self.page.call("Page.navigate", params).await?;
        let failed = |error: &str| {
            let document = self.page.state.borrow().document().clone();
            Err(CaptureError::navigation_failed(error, &document, &self.page.proxy))
        };
        match navigated.error_text {
            Some(error) if !error.is_empty() => {
                // If the page crashed, that is reported soon after.
                sleep(CRASH_REPORT).await;
                failed(&error)
            }
            _ if navigated.is_download == Some(true) => failed("net::ERR_ABORTED"),
            _ => Ok(()),
        }
    }

    /// Waits for the page, settles it and takes its image. Begins anew when the page is replaced.
    async fn settled_image(&self) -> Result<PageImage, CaptureError> {
        for _ in 0..REPLACEMENTS_MAX {
            match self.try_image().await {
                Ok(image) => return Ok(image),
                Err(ImageError::Script(ScriptError::FrameReplaced)) => {}
                Err(ImageError::TooLarge) => return Err(CaptureError::image_too_large()),
                Err(ImageError::Script(error)) => return Err(script_failed(error)),
                Err(ImageError::NotPng) => {
                    let reason = "it returned no PNG".to_owned();
                    return Err(CaptureError::BrowserCrashed { reason });
                }
            }
        }
        let reason = "the page is replaced by another one again and again".to_owned();
        Err(CaptureError::NavigationFailed { reason })
    }

    async fn try_image(&self) -> Result<PageImage, ImageError> {
        let (page, request) = (self.page, self.request);
        let condition = request.condition();
        *self.waits_for.lock() = condition.description();
        page.wait_until(condition).await?;
        if request.page_area() == PageArea::FullPage {
            *self.waits_for.lock() = "scrolling through the page";
            let activity = page.state.borrow().activity;
            let step = SettleStep::ScrollThrough { height_max: IMAGE_HEIGHT_MAX };
            page.settle_frame(&page.main_frame(), step, request).await?;
            let has_loaded_more = page.state.borrow().activity != activity;
            if *condition == WaitFor::NetworkIdle && has_loaded_more {
                *self.waits_for.lock() = condition.description();
                page.wait_until(condition).await?;
            }
        }
        *self.waits_for.lock() = "settling the page";
        page.settle_frames(SettleStep::Settle, request).await?;
        if request.page_area() == PageArea::FullPage {
            page.settle_frame(&page.main_frame(), SettleStep::Unstick, request).await?;
        }
        *self.waits_for.lock() = "the screenshot";
        page.image(request).await
    }
}

fn script_failed(error: ScriptError) -> CaptureError {
    match error {
        ScriptError::Protocol(error) => error.into(),
        other => CaptureError::BrowserCrashed { reason: other.to_string() },
    }
}
