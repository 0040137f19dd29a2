//! The HTTP routes of subscribers, for those who run the page. Those for subscribers are public.

use std::sync::Arc;

use super::ops;
use super::response::SubscriberListView;
use crate::app::App;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::respond::respond_list;
use crate::http::{
    ApiResult, Deleted, Doc, ErrorCode, PAGING, PathParam, Request, Response, Route,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of subscribers.
pub static SUBSCRIBER_ROUTES: &[Route] = &[
    Route::get("/api/v1/status-pages/{id}/subscribers", &list).doc(LIST),
    Route::delete("/api/v1/status-pages/{id}/subscribers/{subscriber_id}", &delete).doc(DELETE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PageId = req.path("id")?;
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let all = app.query(move |app| ops::list(app, id));
    let all = all.await?;
    let shown = all.iter().skip(paging.offset).take(paging.limit).map(AsRef::as_ref);
    respond_list(&app, &SubscriberListView::new(shown))
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: PageId = req.path("id")?;
    let subscriber: SubscriberId = req.path("subscriber_id")?;
    app.blocking(move |app| ops::delete(app, id, subscriber)).await?;
    Response::ok(&Deleted::new(subscriber.text()))
}

const TAG: &str = "Status pages";
const NO_PAGE: ErrorCode = ErrorCode::Missing(PageId::RESOURCE);

const LIST: Doc = Doc::new(TAG, "List the subscribers of a status page, newest first")
    .about("Who has not confirmed the address within 48 hours is deleted.")
    .parameters(&PAGING)
    .ok::<SubscriberListView>()
    .errors(&[NO_PAGE, ErrorCode::InvalidParameter])
    .versioned()
    .ext();

const DELETE: Doc = Doc::new(TAG, "Delete a subscriber of a status page")
    .ok::<Deleted>()
    .errors(&[NO_PAGE, ErrorCode::Missing(SubscriberId::RESOURCE)])
    .ext();
