//! The HTTP routes with which visitors of a status page subscribe to mails, confirm that, and end
//! it.
//!
//! A link in a mail only shows a page with a button, since mail scanners follow links; what the
//! button sends has an effect. Mail programs send the request that ends a subscription themselves
//! (RFC 8058).

use std::sync::Arc;

use super::assemble::{base_path, branding};
use super::message::{Message, Site};
use super::routes::{message, missing_page, no_page, page_of, reached, text_schema};
use super::wire::{SubscriptionInput, SubscriptionView};
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::PageId;
use crate::areas::status::page_directory::PageEntry;
use crate::areas::status::subscribers::{self, SubscriberToken, Subscribing};
use crate::http::{
    ApiResult, BodyDoc, BodyKind, Doc, ErrorCode, LimitClass, PathParam, Query, Request, Response,
    Route, Success,
};

/// The routes of subscriptions for visitors.
pub static SUBSCRIPTION_ROUTES: &[Route] = &[
    Route::post("/status/{subdomain}/api/v1/subscribers", &subscribe)
        .public()
        .cors()
        .waits()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(SUBSCRIBE),
    Route::post("/status/{subdomain}/subscribe", &subscribe_by_form)
        .public()
        .waits()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(SUBSCRIBE_BY_FORM),
    Route::get("/status/{subdomain}/subscribers/{token}/confirm", &ask_confirm)
        .public()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(ASK_CONFIRM),
    Route::post("/status/{subdomain}/subscribers/{token}/confirm", &confirm)
        .public()
        .waits()
        .body(BodyKind::None)
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(CONFIRM),
    Route::get("/status/{subdomain}/subscribers/{token}/unsubscribe", &ask_unsubscribe)
        .public()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(ASK_UNSUBSCRIBE),
    Route::post("/status/{subdomain}/subscribers/{token}/unsubscribe", &unsubscribe)
        .public()
        .waits()
        .body(BodyKind::None)
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(UNSUBSCRIBE),
];

async fn subscribe(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let input = req.json::<SubscriptionInput>()?;
    page_of(&app, &req).await?.ok_or_else(|| no_page(&req))?;
    let email = input.into_email()?;
    begin(&app, &req, email).await?.ok_or_else(|| no_page(&req))?;
    Response::json(Success::Accepted, &SubscriptionView::pending())
}

async fn subscribe_by_form(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = String::from_utf8(req.take_body()).unwrap_or_default();
    let form = Query::parse(&body)?;
    let email = form.one("email")?.unwrap_or_default().to_owned();
    match begin(&app, &req, email).await {
        Ok(None) => missing_page(),
        Ok(Some(())) => show(&app, &req, Message::CheckMailbox).await,
        // What the visitor can mend is shown in a page; the rest is an error like any other.
        Err(error) if error.code().status().is_server_error() => Err(error),
        Err(error) => {
            let text = sentence(error.message());
            show(&app, &req, Message::Refused { text: &text }).await
        }
    }
}

async fn ask_confirm(app: Arc<App>, req: Request) -> ApiResult<Response> {
    show(&app, &req, Message::AskConfirm { token: req.param("token") }).await
}

async fn confirm(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let token = req.path::<SubscriberToken>("token").ok();
    let Some(page) = page_of(&app, &req).await? else { return missing_page() };
    let work = move |app: &App| match token {
        Some(token) => subscribers::confirm(app, page, &token),
        None => Ok(false),
    };
    match app.blocking(work).await? {
        true => show(&app, &req, Message::Confirmed).await,
        false => Ok(show(&app, &req, Message::LinkInvalid).await?.with_status_not_found()),
    }
}

async fn ask_unsubscribe(app: Arc<App>, req: Request) -> ApiResult<Response> {
    show(&app, &req, Message::AskUnsubscribe { token: req.param("token") }).await
}

async fn unsubscribe(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let token = req.path::<SubscriberToken>("token").ok();
    let Some(page) = page_of(&app, &req).await? else { return missing_page() };
    if let Some(token) = token {
        app.blocking(move |app| subscribers::unsubscribe(app, page, &token)).await?;
    }
    show(&app, &req, Message::Unsubscribed).await
}

/// Stores an address; `None` if there is no such page.
async fn begin(app: &Arc<App>, req: &Request, email: String) -> ApiResult<Option<()>> {
    let Some(page) = page_of(app, req).await? else { return Ok(None) };
    let from = req.address();
    let work = move |app: &App| {
        let directory = app.status().pages(app)?;
        if !app.status().can_subscribe(&directory.page(page)?.page) {
            return Err(StatusError::State(
                "the page takes no subscriptions: no mail server is configured, or the server does not know its address",
            ));
        }
        subscribers::subscribe(app, Subscribing { page, email, from })
    };
    app.blocking(work).await.map(Some)
}

/// Responds with a small page.
async fn show(app: &Arc<App>, req: &Request, shown: Message<'_>) -> ApiResult<Response> {
    let Some(id) = page_of(app, req).await? else { return missing_page() };
    let directory = app.blocking(|app| app.status().pages(app)).await?;
    let Ok(PageEntry { page, .. }) = directory.page(id) else { return missing_page() };
    let (base, branding) = (base_path(page, reached(req)), branding(page));
    let site = Site { name: &page.name, base_path: &base, branding: &branding };
    message(shown, &site)
}

/// Returns a message of an error as a sentence.
fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

const TAG: &str = "Public status pages";
const NO_PAGE: ErrorCode = ErrorCode::Missing(PageId::RESOURCE);
const SUBSCRIBE_ERRORS: [ErrorCode; 5] = [
    NO_PAGE,
    ErrorCode::MissingField,
    ErrorCode::InvalidField,
    ErrorCode::InvalidState,
    ErrorCode::Overloaded,
];

const SUBSCRIBE: Doc = Doc::new(TAG, "Subscribe an email address to a status page")
    .about(
        "The address gets a mail with a link. Whoever opens it and presses the button gets mails \
         about incidents and maintenance until the subscription is ended with the link in each of \
         them. The response does not say whether the address is known. The number of addresses that \
         one network may enter in an hour is limited.",
    )
    .request::<SubscriptionInput>(r#"{"email": "ann@example.com"}"#)
    .accepted::<SubscriptionView>()
    .errors(&SUBSCRIBE_ERRORS)
    .ext();

const SUBSCRIBE_BY_FORM: Doc =
    Doc::new(TAG, "Subscribe an email address with the form of a status page")
        .body(BodyDoc {
            media: "application/x-www-form-urlencoded",
            schema: text_schema,
            required: true,
            example: "",
        })
        .encoded("text/html", text_schema)
        .errors(&[NO_PAGE])
        .ext();

const ASK_CONFIRM: Doc =
    Doc::new(TAG, "Show the page with the button that confirms a subscription")
        .encoded("text/html", text_schema)
        .errors(&[NO_PAGE])
        .ext();

const CONFIRM: Doc = Doc::new(TAG, "Confirm a subscription")
    .encoded("text/html", text_schema)
    .errors(&[NO_PAGE])
    .ext();

const ASK_UNSUBSCRIBE: Doc =
    Doc::new(TAG, "Show the page with the button that ends a subscription")
        .encoded("text/html", text_schema)
        .errors(&[NO_PAGE])
        .ext();

const UNSUBSCRIBE: Doc = Doc::new(TAG, "End a subscription")
    .about("Mail programs send this request themselves (RFC 8058). Repeating it succeeds.")
    .encoded("text/html", text_schema)
    .errors(&[NO_PAGE])
    .ext();
