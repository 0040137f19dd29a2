//! The HTTP routes of channels.

use std::sync::Arc;

use super::counters::ChannelUse;
use super::model::Channel;
use super::ops::{self, OpenChannel};
use super::outcome::Outcome;
use super::wire::{
    ChannelInput, ChannelPatch, ChannelSummaryView, ChannelView, TestView, read_channel_type,
};
use crate::app::App;
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::respond::{fits, respond, respond_page};
use crate::areas::alerting::wire::DeletedTargetView;
use crate::http::{
    ApiResult, BodyKind, Data, Doc, ErrorCode, Form, Link, PAGING, Page, Param, PathParam, Request,
    Response, Route, Success,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// The routes of channels.
pub static CHANNEL_ROUTES: &[Route] = &[
    Route::get("/api/v1/channels", &list).doc(LIST),
    Route::post("/api/v1/channels", &create).doc(CREATE),
    Route::get("/api/v1/channels/{id}", &get).doc(GET),
    Route::patch("/api/v1/channels/{id}", &update).doc(UPDATE),
    Route::delete("/api/v1/channels/{id}", &delete).doc(DELETE),
    Route::post("/api/v1/channels/{id}/rotate_secret", &rotate_secret)
        .body(BodyKind::None)
        .doc(ROTATE),
    Route::post("/api/v1/channels/{id}/test", &test).body(BodyKind::None).doc(TEST),
];

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let enabled = req.query().flag("enabled")?;
    let kind = req.query().one("channel_type")?.map(read_channel_type).transpose()?;
    let select = move |channel: &Channel, used: ChannelUse| {
        let fits = enabled.is_none_or(|enabled| channel.enabled == enabled)
            && kind.is_none_or(|kind| channel.channel_type == kind);
        fits.then(|| ChannelSummaryView::new(channel, used))
    };
    let selected = app.query(move |app| ops::list(app, select)).await?;
    respond_page(&app, selected, paging)
}

async fn create(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let draft = req.json::<ChannelInput>()?.into_draft()?;
    // The stored response must not contain the signing secret in plain text.
    let receipt = move |created: &OpenChannel| -> ApiResult<_> {
        let repeated = Response::created(&Data { data: ChannelView::redacted(created) })?;
        Ok(req.receipt(&repeated))
    };
    let created = app.blocking(move |app| ops::create(app, draft, receipt)).await?;
    respond(&app, Success::Created, ChannelView::after_write(&created), created.revision)
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ChannelId = req.path("id")?;
    let found = app.blocking(move |app| ops::get(app, &id)).await?;
    respond(&app, Success::Ok, ChannelView::redacted(&found), found.revision)
}

async fn update(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ChannelId = req.path("id")?;
    let change = req.json::<ChannelPatch>()?.into_change()?;
    let work = move |app: &App| ops::update(app, &id, change, |now| fits(&req, now));
    let written = app.blocking(work).await?;
    respond(&app, Success::Ok, ChannelView::after_write(&written), written.revision)
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ChannelId = req.path("id")?;
    let deleted = id.as_str().to_owned();
    let left = app.blocking(move |app| ops::delete(app, &id, |now| fits(&req, now))).await?;
    Response::ok(&Data { data: DeletedTargetView::new(deleted, left) })
}

async fn rotate_secret(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ChannelId = req.path("id")?;
    let work = move |app: &App| {
        // A repeated request gets the channel without the secret, as after its creation.
        let receipt = |rotated: &OpenChannel| -> ApiResult<_> {
            let repeated = Response::ok(&Data { data: ChannelView::redacted(rotated) })?;
            Ok(req.receipt(&repeated))
        };
        ops::rotate_secret(app, &id, |now| fits(&req, now), receipt)
    };
    let rotated = app.blocking(work).await?;
    respond(&app, Success::Ok, ChannelView::after_write(&rotated), rotated.revision)
}

async fn test(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: ChannelId = req.path("id")?;
    let opened = id.clone();
    let found = app.blocking(move |app| ops::get(app, &opened)).await?;
    let at = app.now();
    let outcome = ops::test(&app, &found).await;
    let is_delivered = outcome == Outcome::Delivered;
    let tested = found.channel.config;
    app.blocking(move |app| ops::record_test(app, &id, &tested, at, is_delivered)).await?;
    Response::ok(&TestView::from(outcome))
}

const TAG: &str = "Notification channels";
const NO_CHANNEL: ErrorCode = ErrorCode::Missing(ChannelId::RESOURCE);
const CREATED_LINKS: [Link; 1] = [Link::get("/api/v1/channels/{id}", "id", "/data/id")];
const TYPES: &[&str] =
    &["team_chat_a", "team_chat_b", "team_chat_c", "paging_a", "paging_b", "email", "webhook"];
const LIST_PARAMETERS: [Param; 4] = [
    Param::query("channel_type", "Only channels of this type.").form(Form::OneOf(TYPES)),
    Param::query("enabled", "Only channels that are enabled, or only those that are not.")
        .form(Form::Flag),
    PAGING[0],
    PAGING[1],
];

const LIST: Doc = Doc::new(TAG, "List notification channels, newest first")
    .parameters(&LIST_PARAMETERS)
    .ok::<Page<ChannelSummaryView>>()
    .errors(&[ErrorCode::InvalidParameter, ErrorCode::InvalidField])
    .versioned();

const CREATE: Doc = Doc::new(TAG, "Create a notification channel")
    .about("A signing secret that the server generates is in this response only.")
    .request::<ChannelInput>(
        r#"{"name": "Shop", "channel_type": "webhook", "config": {"webhook_url": "https://hooks.example.com/telltale"}}"#,
    )
    .created::<Data<ChannelView>>()
    .links(&CREATED_LINKS)
    .errors(&[
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ]);

const GET: Doc = Doc::new(TAG, "Get a notification channel")
    .about("Secrets are redacted: `…` and their last four characters.")
    .ok::<Data<ChannelView>>()
    .errors(&[NO_CHANNEL])
    .versioned();

const UPDATE: Doc = Doc::new(TAG, "Change a notification channel")
    .about("A secret that is sent exactly as it was returned is unchanged.")
    .request::<ChannelPatch>(r#"{"enabled": false}"#)
    .ok::<Data<ChannelView>>()
    .errors(&[
        NO_CHANNEL,
        ErrorCode::MissingName,
        ErrorCode::InvalidName,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
    ])
    .versioned();

const DELETE: Doc = Doc::new(TAG, "Delete a notification channel")
    .about(
        "Also removes it from every escalation policy, which may have no steps then, and from every alert rule.",
    )
    .ok::<Data<DeletedTargetView>>()
    .errors(&[NO_CHANNEL])
    .versioned();

const ROTATE: Doc = Doc::new(TAG, "Replace the signing secret of a webhook channel")
    .about(
        "Shows the new secret this once. For a day, requests have signatures with the old one too, so that the receiver can \
         be changed meanwhile.",
    )
    .ok::<Data<ChannelView>>()
    .errors(&[NO_CHANNEL, ErrorCode::InvalidState])
    .versioned()
    .ext();

const TEST: Doc = Doc::new(TAG, "Send a test message to a notification channel")
    .about("Sends at once and once, also if the channel is disabled. The body reports the result.")
    .ok::<TestView>()
    .errors(&[NO_CHANNEL]);
