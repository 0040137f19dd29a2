//! The HTTP routes of status pages for visitors. Under a host name of a page, their paths begin
//! after that of the page.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY};
use schemars::{Schema, SchemaGenerator, json_schema};

use super::assemble::assemble;
use super::cache::Reached;
use super::document::StatusDocument;
use super::html::{self, Html};
use super::message::{self, Message, Site};
use super::model::{PublicComponent, PublicPage};
use super::rendered::{Rendered, RenderedPage};
use super::{atom as feed, badge};
use crate::app::App;
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::page_directory::{PageDirectory, PageEntry};
use crate::http::{
    ApiError, ApiResult, Doc, ErrorCode, LimitClass, PathParam, Request, Response, Route,
};

/// The routes of status pages for visitors.
pub static PUBLIC_ROUTES: &[Route] = &[
    Route::get("/status/{subdomain}", &page)
        .public()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(PAGE),
    Route::get("/status/{subdomain}/api/v1/status", &document)
        .public()
        .cors()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(DOCUMENT),
    Route::get("/status/{subdomain}/history.atom", &atom)
        .public()
        .cors()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(FEED),
    Route::get("/status/{subdomain}/badge.svg", &page_badge)
        .public()
        .cors()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(BADGE),
    Route::get("/status/{subdomain}/components/{monitor_id}/badge.svg", &component_badge)
        .public()
        .cors()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(COMPONENT_BADGE),
    Route::get("/status/{subdomain}/icon.svg", &icon)
        .public()
        .limit(LimitClass::Unlimited)
        .any_query()
        .doc(ICON),
];

async fn page(app: Arc<App>, req: Request) -> ApiResult<Response> {
    match rendered(&app, &req).await? {
        Some(rendered) => Ok(rendered.html.response(&req)),
        None => missing_page(),
    }
}

async fn document(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let rendered = rendered(&app, &req).await?.ok_or_else(|| no_page(&req))?;
    Ok(rendered.document.response(&req))
}

async fn atom(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let rendered = rendered(&app, &req).await?.ok_or_else(|| no_page(&req))?;
    Ok(rendered.feed.response(&req))
}

async fn page_badge(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let rendered = rendered(&app, &req).await?.ok_or_else(|| no_page(&req))?;
    Ok(rendered.badge.response(&req))
}

async fn component_badge(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let id: MonitorId = req.path("monitor_id")?;
    let rendered = rendered(&app, &req).await?.ok_or_else(|| no_page(&req))?;
    let badge = rendered.component_badges.get(&id.text());
    let missing = || ApiError::missing(MonitorId::RESOURCE, req.param("monitor_id"));
    Ok(badge.ok_or_else(missing)?.response(&req))
}

async fn icon(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let rendered = rendered(&app, &req).await?.ok_or_else(|| no_page(&req))?;
    Ok(rendered.icon.response(&req))
}

/// Returns the id of the page that a request is for.
pub(super) async fn page_of(app: &Arc<App>, req: &Request) -> ApiResult<Option<PageId>> {
    let directory = directory(app).await?;
    let entry = directory.page_at_subdomain(req.param("subdomain"));
    Ok(entry.map(|entry| entry.page.id))
}

async fn directory(app: &Arc<App>) -> ApiResult<Arc<PageDirectory>> {
    match app.status().current_pages(app) {
        Some(directory) => Ok(directory),
        None => app.blocking(|app| app.status().pages(app)).await,
    }
}

/// Returns how the page of a request is reached.
pub(super) fn reached(req: &Request) -> Reached {
    if req.is_of_hosted_site() { Reached::ByHost } else { Reached::ByPath }
}

async fn rendered(app: &Arc<App>, req: &Request) -> ApiResult<Option<Arc<RenderedPage>>> {
    let directory = directory(app).await?;
    let entry = directory.page_at_subdomain(req.param("subdomain"));
    let Some(entry) = entry else { return Ok(None) };
    app.status().public().get(app, entry, reached(req), render).await.map(Some)
}

/// Renders a page in all its forms, whatever is kept of it. Returns the bytes of the HTML. Blocks.
pub fn render_page(app: &App, subdomain: &str) -> ApiResult<usize> {
    let directory = app.status().pages(app)?;
    let entry = directory.page_at_subdomain(subdomain);
    let entry = entry.ok_or_else(|| ApiError::missing(PageId::RESOURCE, subdomain))?;
    Ok(render(app, entry, Reached::ByPath)?.html.plain_bytes())
}

/// Renders a page in all its forms. Blocks.
pub(super) fn render(app: &App, entry: &PageEntry, reached: Reached) -> ApiResult<RenderedPage> {
    let page = assemble(app, entry, reached, app.now());
    render_all(&page)
}

fn render_all(page: &PublicPage) -> ApiResult<RenderedPage> {
    let form =
        |media, text, headers| Rendered::new(media, text, headers).map_err(ApiError::internal);
    let html = html::page(page).map_err(ApiError::internal)?;
    let headers = html_headers(&html)?;
    let document = serde_json::to_string(&StatusDocument::new(page)).map_err(ApiError::internal)?;
    let feed = feed::feed(page).map_err(ApiError::internal)?;
    let badge = badge::page_badge(page).map_err(ApiError::internal)?;
    Ok(RenderedPage {
        html: form(HTML, html.text, headers)?,
        document: form("application/json", document, Vec::new())?,
        feed: form("application/atom+xml; charset=utf-8", feed, Vec::new())?,
        badge: form(SVG, badge, svg_headers())?,
        icon: form(SVG, badge::icon(page), svg_headers())?,
        component_badges: component_badges(page)?,
    })
}

fn component_badges(page: &PublicPage) -> ApiResult<HashMap<String, Rendered>> {
    let components = page.groups.iter().flat_map(|group| &group.components);
    let badge = |component: &PublicComponent| {
        let svg = badge::component_badge(component).map_err(ApiError::internal)?;
        let rendered = Rendered::new(SVG, svg, svg_headers()).map_err(ApiError::internal)?;
        Ok((component.id.clone(), rendered))
    };
    components.map(badge).collect()
}

/// Returns the response with a small page, which nobody keeps.
pub(super) fn message(message: Message<'_>, site: &Site<'_>) -> ApiResult<Response> {
    small(message::message(message, site).map_err(ApiError::internal)?)
}

/// Returns the response for a page that does not exist. It names no other.
pub(super) fn missing_page() -> ApiResult<Response> {
    Ok(small(message::not_found().map_err(ApiError::internal)?)?.with_status_not_found())
}

fn small(html: Html) -> ApiResult<Response> {
    let headers = html_headers(&html)?;
    let mut response = Response::bytes(HTML, html.text)
        .header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in headers {
        response = response.header(name, value);
    }
    Ok(response)
}

/// Returns the error for a page that does not exist, for programs.
pub(super) fn no_page(req: &Request) -> ApiError {
    ApiError::missing(PageId::RESOURCE, req.param("subdomain"))
}

const HTML: &str = "text/html; charset=utf-8";
const SVG: &str = "image/svg+xml";

fn html_headers(html: &Html) -> ApiResult<Vec<(HeaderName, HeaderValue)>> {
    let policy = HeaderValue::from_str(&html.policy).map_err(ApiError::internal)?;
    let referrer = HeaderValue::from_static("no-referrer");
    Ok(vec![(CONTENT_SECURITY_POLICY, policy), (REFERRER_POLICY, referrer)])
}

fn svg_headers() -> Vec<(HeaderName, HeaderValue)> {
    // An SVG that is opened itself is a document: nothing in it may load or run anything.
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    vec![(CONTENT_SECURITY_POLICY, policy)]
}

const TAG: &str = "Public status pages";
const NO_PAGE: ErrorCode = ErrorCode::Missing(PageId::RESOURCE);
const ABOUT: &str = "Also under the host name of the page, where the path begins after \
                     `/status/{subdomain}`. Needs no key, and may be kept for ten seconds.";

/// Returns the schema of a text in another format.
pub(super) fn text_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string" })
}

const PAGE: Doc = Doc::new(TAG, "Get a status page as HTML")
    .about(ABOUT)
    .encoded("text/html", text_schema)
    .versioned()
    .errors(&[NO_PAGE])
    .ext();

const DOCUMENT: Doc = Doc::new(TAG, "Get a status page as JSON")
    .about(ABOUT)
    .ok::<StatusDocument<'static>>()
    .errors(&[NO_PAGE])
    .versioned();

const FEED: Doc =
    Doc::new(TAG, "Get the incidents and maintenances of a status page as an Atom feed")
        .about(ABOUT)
        .encoded("application/atom+xml", text_schema)
        .errors(&[NO_PAGE])
        .versioned()
        .ext();

const BADGE: Doc = Doc::new(TAG, "Get the status of a page as a badge")
    .about(ABOUT)
    .encoded(SVG, text_schema)
    .errors(&[NO_PAGE])
    .versioned()
    .ext();

const COMPONENT_BADGE: Doc =
    Doc::new(TAG, "Get the uptime of a component in the last 90 days as a badge")
        .about(ABOUT)
        .encoded(SVG, text_schema)
        .errors(&[NO_PAGE, ErrorCode::Missing(MonitorId::RESOURCE)])
        .versioned()
        .ext();

const ICON: Doc = Doc::new(TAG, "Get the status of a page as an icon")
    .about(ABOUT)
    .encoded(SVG, text_schema)
    .errors(&[NO_PAGE])
    .versioned()
    .ext();
