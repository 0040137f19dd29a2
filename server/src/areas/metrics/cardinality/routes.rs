//! The route of questions about the number of series.

use std::sync::Arc;

use super::query;
use super::wire::CardinalityView;
use crate::app::App;
use crate::areas::metrics::error::MetricsError;
use crate::areas::metrics::model::MetricName;
use crate::http::{
    ApiResult, Doc, ErrorCode, Form, LimitClass, PAGING, Param, PathParam, Request, Response, Route,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use crate::platform::telemetry::limits::SEARCH_CHARS_MAX;

/// The routes of counts of series.
pub static ROUTES: &[Route] =
    &[Route::get("/api/v1/cardinality", &cardinality).limit(LimitClass::Query).doc(CARDINALITY)];

async fn cardinality(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let question = query::read(req.query(), paging)?;
    let work = move |app: &App| app.engine().cardinality(&question).map_err(MetricsError::from);
    let page = app.query(work).await?;
    Response::ok(&CardinalityView::new(page, paging))
}

const CARDINALITY: Doc = Doc::new("Metrics", "Count series by metric, tag or value")
    .about(
        "Shows where the series come from. Rows with the most series (tag keys: with the most distinct values) come first, equal rows by \
         name. Counts include series without samples in any range, as long as they are registered.",
    )
    .parameters(&[
        Param::query(
            "by",
            "`metric`: metrics by number of series; `tag`: tag keys by number of distinct values; `value`: the values of the tag `key` by \
             number of series. Default: `metric`.",
        )
        .form(Form::OneOf(&["metric", "tag", "value"])),
        Param::query("metric", "Only series of this metric.").form(Form::Filled),
        Param::query(
            "key",
            "The tag key: required with `by=value`; with `by=metric`, only series that have this tag; not allowed with `by=tag`.",
        )
        .form(Form::Filled),
        Param::query(
            "search",
            "Only rows whose name contains this text or all of its words, regardless of case. At most 500 characters and 10 words.",
        )
        .form(Form::TextTo(SEARCH_CHARS_MAX)),
        PAGING[0],
        PAGING[1],
    ])
    .ok::<CardinalityView>()
    .errors(&[ErrorCode::Missing(MetricName::RESOURCE), ErrorCode::InvalidParameter])
    .ext();
