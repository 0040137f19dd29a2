//! The HTTP routes of baselines.

use std::sync::Arc;

use super::model::Baseline;
use super::ops;
use super::wire::{BaselineListView, BaselineView};
use crate::app::App;
use crate::areas::snapshots::ids::BaselineId;
use crate::areas::snapshots::images::{OwnedImage, respond_with_image};
use crate::areas::snapshots::limits;
use crate::areas::snapshots::links::Links;
use crate::areas::snapshots::parameters::{LIMIT, PAGE, page_parameter};
use crate::areas::snapshots::respond::{SIGNATURE, png_schema, respond, respond_list};
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, Form, LimitClass, PAGING, Param, PathParam, Request,
    Response, Route, Scope, Success,
};
use crate::limits::PAGE_LIMIT_MAX;

/// The routes of baselines.
pub static BASELINE_ROUTES: &[Route] = &[
    Route::get("/api/v1/baselines", &list).doc(LIST),
    Route::get("/api/v1/baselines/{id}", &get).doc(GET),
    Route::delete("/api/v1/baselines/{id}", &delete).doc(DELETE),
    Route::get("/api/v1/baselines/{id}/image", &image)
        .signed(Scope::Read)
        .limit(LimitClass::Unlimited)
        .doc(IMAGE),
    Route::post("/api/v1/baselines/{id}/restore", &restore).doc(RESTORE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let query = req.query();
    let paging = query.paging(limits::LIST_LIMIT, PAGE_LIMIT_MAX)?;
    let (page, current) = (page_parameter(query)?, query.flag("current")?);
    let is_wanted = |baseline: &Baseline, is_current: bool| {
        page.is_none_or(|page| baseline.page() == page)
            && current.is_none_or(|current| current == is_current)
    };
    let found = app.snapshots().library().baselines(is_wanted, paging.offset, paging.limit);
    respond_list(&app, &BaselineListView::new(&app, found, &Links::new(&app, &req)))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (baseline, is_current) = ops::get(&app, req.path("id")?)?;
    let view = BaselineView::new(&app, &baseline, is_current, &Links::new(&app, &req));
    respond(&app, Success::Ok, &view, 0)
}

async fn image(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: BaselineId = req.path("id")?;
    let find = move |app: &App| {
        let (baseline, _) = ops::get(app, id)?;
        Ok(OwnedImage { image: baseline.image, owner: id.text() })
    };
    respond_with_image(&app, &req, find).await
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: BaselineId = req.path("id")?;
    app.blocking(move |app| ops::delete(app, id)).await?;
    Response::ok(&Deleted::new(id.text()))
}

async fn restore(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: BaselineId = req.path("id")?;
    let created_by = req.identity().user().to_owned();
    let links = Links::new(&app, &req);
    let restored = app.blocking(move |app| ops::restore(app, id, created_by)).await?;
    let view = BaselineView::new(&app, &restored.0, restored.1, &links);
    respond(&app, Success::Created, &view, 0)
}

const TAG: &str = "Snapshots";
const NO_BASELINE: ErrorCode = ErrorCode::Missing(BaselineId::RESOURCE);
const LIST_PARAMETERS: [Param; 4] = [
    PAGE,
    Param::query("current", "Only current baselines, or only those before them.").form(Form::Flag),
    LIMIT,
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List baselines, newest first")
    .about(
        "The last one of a page, browser, viewport and `full_page` is current. The 19 before it are \
         kept and can be restored.",
    )
    .parameters(&LIST_PARAMETERS)
    .ok::<BaselineListView>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const GET: Doc =
    Doc::new(TAG, "Get a baseline").ok::<BaselineView>().errors(&[NO_BASELINE]).versioned().ext();

const DELETE: Doc = Doc::new(TAG, "Delete a baseline")
    .about(
        "The one before it is current then. Without any, the next snapshot of the page is its first \
         baseline.",
    )
    .ok::<Deleted>()
    .errors(&[NO_BASELINE])
    .ext();

const IMAGE: Doc = Doc::new(TAG, "Get the image of a baseline")
    .about("With a key, or with the parameters that `image_url` has.")
    .parameters(&SIGNATURE)
    .encoded("image/png", png_schema)
    .versioned()
    .errors(&[NO_BASELINE, ErrorCode::InvalidState])
    .ext();

const RESTORE: Doc = Doc::new(TAG, "Restore an earlier baseline")
    .about("Its image becomes a new baseline, the current one.")
    .created::<BaselineView>()
    .errors(&[NO_BASELINE, ErrorCode::InvalidState])
    .ext();
