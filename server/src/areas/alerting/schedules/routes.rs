//! The HTTP routes of on-call schedules.
//!
//! The `ETag` of every response about a schedule or an override contains the revision of the
//! schedule, which `If-Match` is compared with.

use std::sync::Arc;

use schemars::SchemaGenerator;

use super::ics;
use super::model::{Schedule, Versioned};
use super::ops;
use super::wire::{
    CalendarLinkView, CurrentView, OverrideInput, OverrideView, ScheduleInput, SchedulePatch,
    ScheduleSummaryView, ScheduleView, ShiftView, calendar_range, shifts_range,
};
use crate::app::App;
use crate::areas::alerting::ids::{OverrideId, ScheduleId};
use crate::areas::alerting::respond::{fits, respond, respond_page};
use crate::areas::alerting::wire::DeletedTargetView;
use crate::http::{
    ApiResult, BodyKind, Data, Deleted, Doc, ErrorCode, Form, Link, PAGING, Page, Param, PathParam,
    Request, Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of on-call schedules.
pub static SCHEDULE_ROUTES: &[Route] = &[
    Route::get("/api/v1/on_call_schedules", &list).doc(LIST),
    Route::post("/api/v1/on_call_schedules", &create).doc(CREATE),
    Route::get("/api/v1/on_call_schedules/{id}", &get).doc(GET),
    Route::patch("/api/v1/on_call_schedules/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/on_call_schedules/{id}", &delete).doc(DELETE),
    Route::get("/api/v1/on_call_schedules/{id}/current", &current).doc(CURRENT),
    Route::get("/api/v1/on_call_schedules/{id}/shifts", &shifts).doc(SHIFTS),
    Route::get("/api/v1/on_call_schedules/{id}/calendar.ics", &calendar).doc(CALENDAR),
    Route::post(LINK_PATH, &create_link).body(BodyKind::None).doc(CREATE_LINK),
    Route::delete(LINK_PATH, &remove_link).doc(REMOVE_LINK),
    Route::get(SHARED_CALENDAR_PATH, &shared_calendar).public().doc(SHARED_CALENDAR),
    Route::post("/api/v1/on_call_schedules/{id}/overrides", &add_override).doc(ADD_OVERRIDE),
    Route::delete(OVERRIDE_PATH, &remove_override).doc(REMOVE_OVERRIDE),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let now = app.now();
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let enabled = req.query().flag("enabled")?;
    let select = move |found: Versioned<Schedule>| {
        let schedule = found.value;
        let fits = enabled.is_none_or(|enabled| schedule.settings.enabled == enabled);
        fits.then(|| ScheduleSummaryView::new(&schedule, now))
    };
    let selected = app.query(move |app| ops::list(app, select)).await?;
    respond_page(&app, selected, paging)
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let settings = req.json::<ScheduleInput>()?.into_settings()?;
    let created = app.blocking(move |app| ops::create(app, settings)).await?;
    view(&app, Success::Created, &created)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let found = find(&app, &req).await?;
    view(&app, Success::Ok, &found)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ScheduleId = req.path("id")?;
    let change = req.json::<SchedulePatch>()?.into_change()?;
    let work = move |app: &App| ops::update(app, &id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    view(&app, Success::Ok, &written)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ScheduleId = req.path("id")?;
    let deleted = id.as_str().to_owned();
    let left = app.blocking(move |app| ops::delete(app, &id, |now| fits(&req, now))).await?;
    Response::ok(&Data { data: DeletedTargetView::new(deleted, left) })
}

async fn current(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let found = find(&app, &req).await?;
    Response::ok(&CurrentView::new(&found.value, app.now()))
}

async fn shifts(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (from, to) = shifts_range(req.query(), app.now())?;
    let found = find(&app, &req).await?;
    let shifts = found.value.shifts(from, to).into_iter();
    Response::ok(&Data { data: shifts.map(ShiftView::from).collect::<Vec<_>>() })
}

async fn calendar(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let found = find(&app, &req).await?;
    Ok(calendar_of(&app, &found.value))
}

async fn shared_calendar(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ScheduleId = req.path("id")?;
    let token = req.query().one("token")?.unwrap_or_default().to_owned();
    let found = app.blocking(move |app| ops::get_by_link(app, &id, &token)).await?;
    Ok(calendar_of(&app, &found.value))
}

async fn create_link(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ScheduleId = req.path("id")?;
    let path = SHARED_CALENDAR_PATH.replace("{id}", id.as_str());
    // The response has the token, of which only the hash is stored.
    req.forgo_receipt();
    let work = move |app: &App| ops::create_link(app, &id, |now| fits(&req, now));
    let token = app.blocking(work).await?;
    let link = CalendarLinkView::new(app.alerting().public_url(), &path, token.as_str());
    Response::created(&Data { data: link })
}

async fn remove_link(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ScheduleId = req.path("id")?;
    let deleted = Deleted::new(id.as_str());
    app.blocking(move |app| ops::remove_link(app, &id, |now| fits(&req, now))).await?;
    Response::ok(&Data { data: deleted })
}

fn calendar_of(app: &App, schedule: &Schedule) -> Response {
    let now = app.now();
    let (from, to) = calendar_range(now);
    let shifts = schedule.shifts(from, to);
    let text = ics::calendar(schedule.id.as_str(), &schedule.settings.name, &shifts, now);
    Response::bytes("text/calendar; charset=utf-8", text)
}

async fn add_override(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ScheduleId = req.path("id")?;
    let entry = req.json::<OverrideInput>()?.into_override()?;
    let work = move |app: &App| ops::add_override(app, &id, entry, |now| fits(&req, now));
    let added = app.blocking(work).await?;
    respond(&app, Success::Created, OverrideView::from(&added.value), added.revision)
}

async fn remove_override(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let (id, override_id): (ScheduleId, OverrideId) = (req.path("id")?, req.path("override_id")?);
    let deleted = Deleted::new(override_id.as_str());
    let work = move |app: &App| ops::remove_override(app, &id, &override_id, |now| fits(&req, now));
    app.blocking(work).await?;
    Response::ok(&Data { data: deleted })
}

async fn find(app: &Arc<App>, req: &Request) -> ApiResult<Versioned<Schedule>> {
    let id: ScheduleId = req.path("id")?;
    app.blocking(move |app| ops::get(app, &id)).await
}

fn view(app: &App, success: Success, schedule: &Versioned<Schedule>) -> ApiResult<Response> {
    respond(app, success, ScheduleView::new(&schedule.value, app.now()), schedule.revision)
}

const TAG: &str = "On-call schedules";
const NO_SCHEDULE: ErrorCode = ErrorCode::Missing(ScheduleId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/on_call_schedules/{id}", "id", "/data/id")];
const LINK_PATH: &str = "/api/v1/on_call_schedules/{id}/calendar_link";
const SHARED_CALENDAR_PATH: &str = "/api/v1/on_call_schedules/{id}/shared_calendar.ics";
const OVERRIDE_PATH: &str = "/api/v1/on_call_schedules/{id}/overrides/{override_id}";
const LIST_PARAMETERS: [Param; 3] = [
    Param::query("enabled", "Only schedules that are enabled, or only those that are not.")
        .form(Form::Flag),
    PAGING[0],
    PAGING[1],
];
const RANGE: [Param; 2] = [
    Param::query("from", "Inclusive; defaults to now. A date means its midnight in UTC.")
        .form(Form::Time),
    Param::query(
        "to",
        "Exclusive; defaults to 7 days after `from`, and is at most 366 days after it. A date means the end of that day.",
    )
    .form(Form::Time),
];

const LIST: Doc = Doc::new(TAG, "List on-call schedules, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<Page<ScheduleSummaryView>>()
    .errors(&[ErrorCode::InvalidParameter])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Create an on-call schedule")
    .about(
        "A weekly schedule has a person for each day, from midnight to midnight in its time zone. A custom schedule \
         steps through its members every day or week, at the time of day of `rotation_start` in its time zone.",
    )
    .request::<ScheduleInput>(
        r#"{"name": "Shop", "schedule_type": "custom", "timezone": "Europe/Berlin", "members": ["ann@example.com", "bob@example.com"], "rotation_type": "weekly", "rotation_start": "2026-01-05T08:00:00Z"}"#,
    )
    .created::<Data<ScheduleView>>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::Conflict,
    ]);

const GET: Doc = Doc::new(TAG, "Get an on-call schedule")
    .ok::<Data<ScheduleView>>()
    .errors(&[NO_SCHEDULE])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Change an on-call schedule")
    .about(
        "Absent fields are unchanged, and so are absent days of `weekly_schedule`; a day that is null is cleared. The \
         type cannot be changed.",
    )
    .request::<SchedulePatch>(r#"{"enabled": false}"#)
    .ok::<Data<ScheduleView>>()
    .errors(&[
        NO_SCHEDULE,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete an on-call schedule with its overrides")
    .about("Also removes it from every alert rule.")
    .ok::<Data<DeletedTargetView>>()
    .errors(&[NO_SCHEDULE])
    .versioned();

const CURRENT: Doc = Doc::new(TAG, "Show who is on call now")
    .about("All fields are null while the schedule is not enabled.")
    .ok::<CurrentView>()
    .errors(&[NO_SCHEDULE]);

const SHIFTS: Doc = Doc::new(TAG, "List the shifts of an on-call schedule")
    .about(
        "The shifts and the gaps between them, in order, each as a whole even if it is only partly within the range. \
         Empty while the schedule is not enabled.",
    )
    .parameters(&RANGE)
    .ok::<Data<Vec<ShiftView>>>()
    .errors(&[NO_SCHEDULE, ErrorCode::InvalidTimestamp, ErrorCode::InvalidRange])
    .ext();

const CALENDAR: Doc = Doc::new(TAG, "Export the shifts of the next 90 days as iCalendar")
    .encoded("text/calendar", SchemaGenerator::subschema_for::<String>)
    .errors(&[NO_SCHEDULE])
    .ext();

const CREATE_LINK: Doc = Doc::new(TAG, "Make a link to the calendar of a schedule")
    .about(
        "For calendar programs, which cannot send an API key: whoever knows the link may read the shifts of the next 90 days. \
         It is shown this once, and ends the link before.",
    )
    .created::<Data<CalendarLinkView>>()
    .errors(&[NO_SCHEDULE])
    .versioned()
    .ext();

const REMOVE_LINK: Doc = Doc::new(TAG, "End the link to the calendar of a schedule")
    .ok::<Data<Deleted>>()
    .errors(&[NO_SCHEDULE])
    .versioned()
    .ext();

const SHARED_CALENDAR: Doc = Doc::new(TAG, "Read the calendar of a schedule by its link")
    .about("Needs no key. With another token than that of the link, the schedule does not exist.")
    .parameters(&[Param::query("token", "The token of the link.").required()])
    .encoded("text/calendar", SchemaGenerator::subschema_for::<String>)
    .errors(&[NO_SCHEDULE])
    .ext();

const ADD_OVERRIDE: Doc = Doc::new(TAG, "Replace the person on call for some time")
    .about("Where overrides overlap, the one created last wins.")
    .request::<OverrideInput>(
        r#"{"user": "eve@example.com", "starts_at": "2100-01-05T08:00:00Z", "ends_at": "2100-01-06T08:00:00Z"}"#,
    )
    .created::<Data<OverrideView>>()
    .errors(&[
        NO_SCHEDULE,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::InvalidTimestamp,
        ErrorCode::Conflict,
    ])
    .versioned()
    .ext();

const REMOVE_OVERRIDE: Doc = Doc::new(TAG, "Remove an override")
    .ok::<Data<Deleted>>()
    .errors(&[NO_SCHEDULE, ErrorCode::Missing(OverrideId::RESOURCE)])
    .versioned()
    .ext();
