//! The HTTP routes of snapshots.

use std::sync::Arc;

use http::HeaderName;

use super::model::{Snapshot, SnapshotState};
use super::wire::{SnapshotInput, SnapshotListView, SnapshotView};
use super::{ops, work};
use crate::app::App;
use crate::areas::snapshots::baseline::{self, BaselineView};
use crate::areas::snapshots::error::SnapshotError;
use crate::areas::snapshots::ids::SnapshotId;
use crate::areas::snapshots::images::respond_with_image;
use crate::areas::snapshots::library::SnapshotEntry;
use crate::areas::snapshots::limits;
use crate::areas::snapshots::links::Links;
use crate::areas::snapshots::parameters::{LIMIT, PAGE, page_parameter};
use crate::areas::snapshots::respond::{SIGNATURE, png_schema, respond, respond_list};
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Form, LimitClass, Link, PAGING, Param, PathParam, Request,
    Response, Route, Scope, Success, fits,
};
use crate::limits::PAGE_LIMIT_MAX;
use crate::platform::time::Moment;

/// The routes of snapshots.
pub static SNAPSHOT_ROUTES: &[Route] = &[
    Route::get(SNAPSHOTS, &list).doc(LIST),
    Route::post(SNAPSHOTS, &create).doc(CREATE),
    Route::get("/api/v1/snapshots/{id}", &get).doc(GET),
    Route::delete("/api/v1/snapshots/{id}", &delete).doc(DELETE),
    Route::get("/api/v1/snapshots/{id}/image", &image)
        .signed(Scope::Read)
        .limit(LimitClass::Unlimited)
        .doc(IMAGE),
    Route::post("/api/v1/snapshots/{id}/baseline", &make_baseline).doc(BASELINE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let query = req.query();
    let paging = query.paging(limits::LIST_LIMIT, PAGE_LIMIT_MAX)?;
    let page = page_parameter(query)?;
    let has_browser = query.one("browser")?.is_none_or(|browser| browser == "chromium");
    let since = query.moment("since", app.now())?.map(Moment::start);
    let status = query.one_of("status", &SnapshotState::NAMES)?;
    let is_wanted = |entry: &SnapshotEntry| {
        has_browser
            && page.is_none_or(|page| entry.page == page)
            && status.is_none_or(|status| entry.status == status)
            && since.is_none_or(|since| entry.captured_at.unwrap_or(entry.created_at) >= since)
    };
    let found = app.snapshots().library().snapshots(is_wanted, paging.offset, paging.limit);
    respond_list(&app, &SnapshotListView::new(found))
}

async fn create(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let (settings, secrets) = req.json::<SnapshotInput>()?.into_settings()?;
    let created_by = req.identity().user().to_owned();
    let links = Links::new(&app, &req);
    let is_async = prefers_async(&req);
    let created = app
        .blocking(move |app| {
            let created = ops::create(app, settings, &secrets, created_by)?;
            work::enqueue(app, created.value.id);
            Ok::<_, SnapshotError>(created)
        })
        .await?;
    if is_async || !req.wait(work::wait(&app, created.value.id)).await? {
        return respond_with(&app, Success::Accepted, created.value, created.revision, &links);
    }
    let id = created.value.id;
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    respond_with(&app, Success::Created, found.value, found.revision, &links)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: SnapshotId = req.path("id")?;
    let links = Links::new(&app, &req);
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    respond_with(&app, Success::Ok, found.value, found.revision, &links)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: SnapshotId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id, |now| fits(&req, now))).await?;
    Response::ok(&Deleted::new(id.text()))
}

async fn image(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: SnapshotId = req.path("id")?;
    respond_with_image(&app, &req, move |app| ops::image(app, id)).await
}

async fn make_baseline(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: SnapshotId = req.path("id")?;
    let created_by = req.identity().user().to_owned();
    let links = Links::new(&app, &req);
    let work = move |app: &App| {
        let made = ops::make_baseline(app, id, created_by)?;
        baseline::get(app, made)
    };
    let (baseline, is_current) = app.blocking(work).await?;
    let view = BaselineView::new(&app, &baseline, is_current, &links);
    respond(&app, Success::Created, &view, 0)
}

fn respond_with(
    app: &App,
    success: Success,
    snapshot: Snapshot,
    revision: u64,
    links: &Links,
) -> ApiResult<Response> {
    respond(app, success, &SnapshotView::new(app, snapshot, links), revision)
}

/// Returns whether the client does not want to wait (RFC 7240, section 4.1).
fn prefers_async(req: &Request) -> bool {
    let all = req.headers().get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|preference| {
        let name = preference.split(['=', ';']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("respond-async")
    })
}

const SNAPSHOTS: &str = "/api/v1/snapshots";
const PREFER: HeaderName = HeaderName::from_static("prefer");
const TAG: &str = "Snapshots";
const NO_SNAPSHOT: ErrorCode = ErrorCode::Missing(SnapshotId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/snapshots/{id}", "id", "/id")];
const LIST_PARAMETERS: [Param; 6] = [
    PAGE,
    Param::query("browser", "Only snapshots of this browser, of which `chromium` is one."),
    Param::query("status", "Only snapshots with this status.")
        .form(Form::OneOf(&SnapshotState::NAMES)),
    Param::query("since", "Only snapshots that were captured at this time or later.")
        .form(Form::Time),
    LIMIT,
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List snapshots, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<SnapshotListView>()
    .errors(&[ErrorCode::InvalidParameter, ErrorCode::InvalidTimestamp])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Capture a page")
    .about(
        "Responds when the page is captured, or cannot be (`status` is `failed` then, and `error` \
         says why). After 30 seconds, or at once with `Prefer: respond-async`, the response is 202 \
         and the capture goes on. Animations and the caret are frozen and fonts awaited. Whatever \
         the page loads is refused if its address is not public, unless the operator has allowed \
         it. The first snapshot of a page, browser, viewport and `full_page` becomes its baseline.",
    )
    .request::<SnapshotInput>(
        r##"{"url": "https://shop.example.com/", "viewport": {"width": 1280, "height": 720}, "full_page": true, "wait_for": "network_idle", "hide_selectors": [".cookie-banner"], "mask_selectors": ["#clock"]}"##,
    )
    .created::<SnapshotView>()
    .or_accepted()
    .links(&CREATED_LINKS)
    .errors(&[ErrorCode::MissingField, ErrorCode::InvalidField, ErrorCode::Conflict]);

const GET: Doc =
    Doc::new(TAG, "Get a snapshot").ok::<SnapshotView>().errors(&[NO_SNAPSHOT]).versioned();

const DELETE: Doc = Doc::new(TAG, "Delete a snapshot")
    .about("Baselines and comparisons that were made of it keep its image.")
    .ok::<Deleted>()
    .errors(&[NO_SNAPSHOT])
    .versioned();

const IMAGE: Doc = Doc::new(TAG, "Get the image of a snapshot")
    .about("With a key, or with the parameters that `image_url` has.")
    .parameters(&SIGNATURE)
    .encoded("image/png", png_schema)
    .versioned()
    .errors(&[NO_SNAPSHOT, ErrorCode::InvalidState])
    .ext();

const BASELINE: Doc = Doc::new(TAG, "Make a snapshot the baseline of its page")
    .created::<BaselineView>()
    .errors(&[NO_SNAPSHOT, ErrorCode::InvalidState])
    .ext();
