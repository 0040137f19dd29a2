//! The route of new events.

use std::sync::Arc;

use super::wire::TailAnswer;
use super::{ops, query, wire};
use crate::app::App;
use crate::areas::events::routes::{NAME, TAGS, USER};
use crate::http::{ApiResult, Doc, ErrorCode, Form, PAGING, Param, Request, Response, Route};

/// The routes of new events.
pub static ROUTES: &[Route] = &[Route::get("/api/v1/events/tail", &tail).doc(TAIL)];

async fn tail(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let request = query::read(req.query())?;
    let may_wait = !request.wait.is_zero();
    let key = req.identity().key_id();
    let _permit = may_wait.then(|| app.event_followers().permit(key)).transpose()?;
    let tail = req.wait(ops::follow(&app, &request)).await??;
    let cursor = app.event_followers().cursor(tail.page.next);
    Ok(Response::counted(wire::response(&tail, cursor, app.engine().memory())?))
}

const TAIL: Doc = Doc::new("Events", "Follow new events")
    .about(
        "Responds with the events stored after `after` as soon as there are any, at the latest after `wait_seconds`. Pass `meta.cursor` as \
         `after` to continue; nothing is lost or repeated between two requests. A request without `after` is about events from now on: with `wait_seconds=0` it returns the first cursor. At most \
         10000 events, and 8 MiB of them, are kept for followers, for a minute after the last request; `meta.missed` counts those that a slow client \
         has missed. A response has at most 4 MiB of events, but at least one; the next request returns the others at once. \
         If too many requests wait, the response is 503 with `Retry-After`.",
    )
    .parameters(&[
        NAME,
        USER,
        TAGS,
        Param::query("after", "Only events after the response whose `cursor` this is. Default: only events from now on.")
            .form(Form::Pattern("^[0-9a-f]{1,16}-[0-9a-f]{1,16}$")),
        Param::query("wait_seconds", "How long to wait for an event. Default 0; a value over 30 is reduced to 30.").form(Form::Integer(0)),
        PAGING[0],
    ])
    .ok::<TailAnswer>()
    .errors(&[ErrorCode::InvalidParameter])
    .ext();
