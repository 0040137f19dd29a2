//! The HTTP routes of comparisons.

use std::sync::Arc;

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};

use super::model::{ComparedImage, Decision};
use super::wire::{
    CompareInput, ComparisonListView, ComparisonView, NewComparisonView, UpdatedBaselineView,
    VerdictInput,
};
use super::{ops, review};
use crate::app::App;
use crate::areas::snapshots::error::PAGE_HAS_NO_BASELINE;
use crate::areas::snapshots::ids::{ComparisonId, SNAPSHOT_ID, SnapshotId};
use crate::areas::snapshots::images::respond_with_image;
use crate::areas::snapshots::library::ComparisonEntry;
use crate::areas::snapshots::limits;
use crate::areas::snapshots::links::Links;
use crate::areas::snapshots::parameters::{LIMIT, PAGE, page_parameter};
use crate::areas::snapshots::respond::{SIGNATURE, png_schema, respond, respond_list};
use crate::http::{
    ApiError, ApiResult, Deleted, Doc, ErrorCode, Form, LimitClass, Link, PAGING, Param, PathParam,
    Request, Response, Route, Scope, Success, fits,
};
use crate::limits::PAGE_LIMIT_MAX;

/// The routes of comparisons.
pub static COMPARISON_ROUTES: &[Route] = &[
    Route::post("/api/v1/snapshots/{id}/compare", &compare).doc(COMPARE),
    Route::get("/api/v1/comparisons", &list).doc(LIST),
    Route::get(COMPARISON, &get).doc(GET),
    Route::delete(COMPARISON, &delete).doc(DELETE),
    Route::post("/api/v1/comparisons/{id}/approve", &approve).doc(APPROVE),
    Route::post("/api/v1/comparisons/{id}/reject", &reject).doc(REJECT),
    Route::post("/api/v1/comparisons/{id}/update_baseline", &update_baseline).doc(UPDATE),
    Route::get("/api/v1/comparisons/{id}/images/{image}", &image)
        .signed(Scope::Read)
        .limit(LimitClass::Unlimited)
        .doc(IMAGE),
    Route::get("/api/v1/comparisons/{id}/review", &review_page)
        .signed(Scope::Read)
        .limit(LimitClass::Unlimited)
        .doc(REVIEW),
];

async fn compare(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let created_by = req.identity().user().to_owned();
    let draft = req.json_or_default::<CompareInput>()?.into_draft(created_by)?;
    let id: SnapshotId = req.path("id")?;
    let links = Links::new(&app, &req);
    let slots = app.snapshots().compare_slots();
    let slot = slots.acquire_owned().await.map_err(ApiError::internal)?;
    let work = move |app: &App| {
        let made = ops::create(app, id, draft);
        drop(slot);
        made
    };
    let made = app.query(work).await?;
    let view = NewComparisonView::new(&app, made.value, &links);
    respond(&app, Success::Created, &view, made.revision)
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let query = req.query();
    let paging = query.paging(limits::LIST_LIMIT, PAGE_LIMIT_MAX)?;
    let status = query.one_of("status", &Decision::NAMES)?;
    let page = page_parameter(query)?;
    let snapshot =
        query.parsed("snapshot_id", || "must be the id of a snapshot", SnapshotId::parse)?;
    let is_wanted = move |entry: &ComparisonEntry| {
        status.is_none_or(|status| entry.status == status)
            && page.is_none_or(|page| entry.page == page)
            && snapshot.is_none_or(|snapshot| entry.snapshot == snapshot)
    };
    let links = Links::new(&app, &req);
    let work = move |app: &App| ops::list(app, is_wanted, paging.offset, paging.limit);
    let found = app.query(work).await?;
    respond_list(&app, &ComparisonListView::new(&app, found, &links))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ComparisonId = req.path("id")?;
    let links = Links::new(&app, &req);
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    let view = ComparisonView::new(&app, found.value, &links);
    respond(&app, Success::Ok, &view, found.revision)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ComparisonId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id, |now| fits(&req, now))).await?;
    Response::ok(&Deleted::new(id.text()))
}

async fn approve(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let by = req.identity().user().to_owned();
    let verdict = req.json_or_default::<VerdictInput>()?.into_verdict(by, app.now())?;
    let id: ComparisonId = req.path("id")?;
    let links = Links::new(&app, &req);
    let work = move |app: &App| ops::approve(app, id, verdict, |now| fits(&req, now));
    let decided = app.blocking(work).await?;
    let view = ComparisonView::new(&app, decided.value, &links);
    respond(&app, Success::Ok, &view, decided.revision)
}

async fn reject(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let by = req.identity().user().to_owned();
    let verdict = req.json_or_default::<VerdictInput>()?.into_verdict(by, app.now())?;
    let id: ComparisonId = req.path("id")?;
    let links = Links::new(&app, &req);
    let work = move |app: &App| ops::reject(app, id, verdict, |now| fits(&req, now));
    let decided = app.blocking(work).await?;
    let view = ComparisonView::new(&app, decided.value, &links);
    respond(&app, Success::Ok, &view, decided.revision)
}

async fn update_baseline(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ComparisonId = req.path("id")?;
    let created_by = req.identity().user().to_owned();
    let work = move |app: &App| ops::update_baseline(app, id, created_by);
    let (found, baseline) = app.blocking(work).await?;
    let view = UpdatedBaselineView::new(&found.value, baseline);
    respond(&app, Success::Ok, &view, found.revision)
}

async fn image(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ComparisonId = req.path("id")?;
    let which = ComparedImage::parse(req.param("image"));
    let which = which.ok_or_else(|| ApiError::new(ErrorCode::NotFound, NO_IMAGE))?;
    respond_with_image(&app, &req, move |app| ops::image(app, id, which)).await
}

async fn review_page(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ComparisonId = req.path("id")?;
    let links = Links::new(&app, &req);
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    let page = review::page(&app, &found.value, &links).map_err(ApiError::internal)?;
    let policy = HeaderValue::from_str(&page.policy).map_err(ApiError::internal)?;
    Ok(Response::bytes("text/html; charset=utf-8", page.text)
        .header(CONTENT_SECURITY_POLICY, policy)
        .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
}

const COMPARISON: &str = "/api/v1/comparisons/{id}";
const TAG: &str = "Snapshots";
const NO_COMPARISON: ErrorCode = ErrorCode::Missing(ComparisonId::RESOURCE);
const NO_IMAGE: &str = "the images of a comparison are baseline, snapshot and diff";
const CREATED_LINKS: [Link; 1] = [Link::get(COMPARISON, "id", "/comparison_id")];
const LIST_PARAMETERS: [Param; 5] = [
    Param::query("status", "Only comparisons with this status.")
        .form(Form::OneOf(&Decision::NAMES)),
    PAGE,
    Param::query("snapshot_id", "Only comparisons of this snapshot.")
        .form(Form::Pattern(SNAPSHOT_ID)),
    LIMIT,
    PAGING[1],
];
const IMAGE_PARAMETERS: [Param; 3] =
    [Param::path("image", "`baseline`, `snapshot` or `diff`."), SIGNATURE[0], SIGNATURE[1]];

const COMPARE: Doc = Doc::new(TAG, "Compare a snapshot with the baseline of its page")
    .about(
        "Colours are compared as people see them, and anti-aliased pixels are no difference, as in \
         pixelmatch. Images of different sizes are compared on the area that contains both.",
    )
    .optional_request::<CompareInput>(r#"{"threshold": 0.1}"#)
    .created::<NewComparisonView>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::Missing(SnapshotId::RESOURCE),
        PAGE_HAS_NO_BASELINE,
        ErrorCode::InvalidState,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ]);

const LIST: Doc = Doc::new(TAG, "List comparisons, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<ComparisonListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const GET: Doc =
    Doc::new(TAG, "Get a comparison").ok::<ComparisonView>().errors(&[NO_COMPARISON]).versioned();

const DELETE: Doc =
    Doc::new(TAG, "Delete a comparison").ok::<Deleted>().errors(&[NO_COMPARISON]).versioned().ext();

const APPROVE: Doc = Doc::new(TAG, "Approve a comparison")
    .about(
        "Its snapshot becomes the baseline of the page, unless the page has the baseline of a newer \
         snapshot meanwhile.",
    )
    .optional_request::<VerdictInput>(r#"{"reason": "The new header is intended"}"#)
    .ok::<ComparisonView>()
    .errors(&[NO_COMPARISON, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .versioned();

const REJECT: Doc = Doc::new(TAG, "Reject a comparison")
    .about("The baseline stays.")
    .optional_request::<VerdictInput>(r#"{"reason": "The button is cut off"}"#)
    .ok::<ComparisonView>()
    .errors(&[NO_COMPARISON, ErrorCode::InvalidState, ErrorCode::InvalidField])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Make the snapshot of a comparison the baseline")
    .about("The status of the comparison stays.")
    .ok::<UpdatedBaselineView>()
    .errors(&[NO_COMPARISON]);

const IMAGE: Doc = Doc::new(TAG, "Get an image of a comparison")
    .about("With a key, or with the parameters that the URLs in a comparison have.")
    .parameters(&IMAGE_PARAMETERS)
    .encoded("image/png", png_schema)
    .versioned()
    .errors(&[NO_COMPARISON, ErrorCode::NotFound, ErrorCode::InvalidState])
    .ext();

const REVIEW: Doc = Doc::new(TAG, "Review a comparison, as HTML")
    .about("With a key, or with the parameters that `review_url` has.")
    .parameters(&SIGNATURE)
    .encoded("text/html", review::html_schema)
    .errors(&[NO_COMPARISON])
    .ext();
