//! Snapshots: pages, and how they were captured.

use telltale_engine::TimestampMs;

use crate::areas::snapshots::capture::{
    CaptureRequest, PageArea, PageCookie, PageHeader, Selectors, Viewport, WaitFor,
};
use crate::areas::snapshots::error::SnapshotError;
use crate::areas::snapshots::ids::{PageId, SnapshotId};
use crate::areas::snapshots::images::StoredImage;
use crate::areas::snapshots::place::{Place, PlaceSettings};

/// A page that is captured, or was.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::snapshots) struct Snapshot {
    pub(in crate::areas::snapshots) id: SnapshotId,
    pub(in crate::areas::snapshots) page: PageId,
    pub(in crate::areas::snapshots) settings: CaptureSettings,
    /// Headers and cookies, sealed; kept until the page is captured.
    pub(super) secrets: Option<String>,
    /// How often the capture was begun.
    pub(in crate::areas::snapshots) attempts: u32,
    pub(in crate::areas::snapshots) state: SnapshotState,
    pub(in crate::areas::snapshots) created_by: String,
    pub(in crate::areas::snapshots) created_at: TimestampMs,
}

/// What a page is, and how it is captured, without secrets.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::snapshots) struct CaptureSettings {
    pub(in crate::areas::snapshots) url: String,
    pub(in crate::areas::snapshots) viewport: Viewport,
    pub(in crate::areas::snapshots) full_page: bool,
    pub(in crate::areas::snapshots) wait_for: String,
    pub(in crate::areas::snapshots) hide_selectors: Vec<String>,
    pub(in crate::areas::snapshots) mask_selectors: Vec<String>,
    /// The names of the headers and cookies, whose values are secret.
    pub(in crate::areas::snapshots) header_names: Vec<String>,
    pub(in crate::areas::snapshots) cookie_names: Vec<String>,
}

/// Headers and cookies for a page behind a login.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct PageSecrets {
    pub(super) headers: Vec<(String, String)>,
    pub(super) cookies: Vec<(String, String)>,
}

/// How far a snapshot is.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::snapshots) enum SnapshotState {
    /// It waits for the browser.
    Pending,
    /// The browser captures it.
    Capturing,
    /// It is captured.
    Completed(Box<CapturedPage>),
    /// It was not captured.
    Failed(CaptureFailure),
}

/// A captured page.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::snapshots) struct CapturedPage {
    pub(in crate::areas::snapshots) image: StoredImage,
    pub(in crate::areas::snapshots) captured_at: TimestampMs,
    pub(in crate::areas::snapshots) duration_ms: u64,
    /// The status of the response that the page is.
    pub(in crate::areas::snapshots) http_status: Option<u16>,
    /// The URL of the page at last, after redirects.
    pub(in crate::areas::snapshots) final_url: String,
    /// Whether the page is higher than the image.
    pub(in crate::areas::snapshots) is_truncated: bool,
    /// Whether the page went on changing.
    pub(in crate::areas::snapshots) is_unstable: bool,
    /// The first addresses that the page must not reach, and tried to.
    pub(in crate::areas::snapshots) refused: Vec<RefusedRequest>,
    /// The number of all such requests.
    pub(in crate::areas::snapshots) refused_total: u64,
}

/// An address that a page must not reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::snapshots) struct RefusedRequest {
    pub(in crate::areas::snapshots) host: String,
    pub(in crate::areas::snapshots) port: u16,
    pub(in crate::areas::snapshots) reason: String,
}

/// Why a page was not captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::snapshots) struct CaptureFailure {
    pub(in crate::areas::snapshots) code: String,
    pub(in crate::areas::snapshots) message: String,
    pub(in crate::areas::snapshots) failed_at: TimestampMs,
}

impl Snapshot {
    /// Returns the captured page, if it is.
    pub(in crate::areas::snapshots) fn captured(&self) -> Option<&CapturedPage> {
        match &self.state {
            SnapshotState::Completed(captured) => Some(captured),
            _ => None,
        }
    }

    /// Returns what its baseline is a baseline of.
    pub(in crate::areas::snapshots) fn place(&self) -> Place {
        Place::new(self.page, self.settings.viewport, self.settings.full_page)
    }
}

impl SnapshotState {
    /// The names of all states.
    pub(in crate::areas::snapshots) const NAMES: [&str; 4] =
        ["pending", "capturing", "completed", "failed"];

    /// Returns the name in the API.
    pub(in crate::areas::snapshots) fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Capturing => "capturing",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns whether the snapshot will not change any more.
    pub(in crate::areas::snapshots) fn is_final(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_))
    }
}

impl CaptureSettings {
    /// Returns the page; `None` if the URL is not valid.
    pub(super) fn page(&self) -> Option<PageId> {
        PageId::of(&self.url)
    }

    /// Returns what the place is, in words.
    pub(super) fn place(&self) -> PlaceSettings {
        let Self { url, viewport, full_page, .. } = self;
        PlaceSettings { url: url.clone(), viewport: *viewport, full_page: *full_page }
    }

    /// Returns the request for the browser; fails with what is wrong with a field.
    pub(super) fn request(&self, secrets: &PageSecrets) -> Result<CaptureRequest, SnapshotError> {
        let list = |field, selectors: &[String]| {
            let of_field = |error| SnapshotError::field(field, &error);
            Selectors::new(selectors.to_vec()).map_err(of_field)
        };
        let area = if self.full_page { PageArea::FullPage } else { PageArea::Viewport };
        let header = |(name, value): &(String, String)| PageHeader::new(name, value);
        let cookie = |(name, value): &(String, String)| PageCookie::new(name, value);
        let wait_for = WaitFor::parse(&self.wait_for);
        let wait_for = wait_for.map_err(|error| SnapshotError::field("wait_for", &error))?;
        let cookies = secrets.cookies.iter().map(cookie).collect::<Result<_, _>>()?;
        CaptureRequest::new(&self.url, self.viewport)?
            .area(area)
            .wait_for(wait_for)
            .hide(list("hide_selectors", &self.hide_selectors)?)
            .mask(list("mask_selectors", &self.mask_selectors)?)
            .headers(secrets.headers.iter().map(header).collect::<Result<_, _>>()?)?
            .cookies(cookies)
            .map_err(|error| SnapshotError::field("cookies", &error))
    }
}

impl PageSecrets {
    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.cookies.is_empty()
    }
}

impl std::fmt::Debug for PageSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PageSecrets(…)")
    }
}
