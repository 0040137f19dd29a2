//! The routes of the area and their handlers.

use std::sync::Arc;

use super::model::MetricName;
use super::wire::{
    BatchInput, DeletedMetric, Metric, MetricDetail, MetricInput, QueryAnswer, TagKey, TagValue,
    Tracked, definitions, page,
};
use super::{ops, query as parameters, respond};
use crate::app::App;
use crate::http::{
    ApiResult, BatchAnswer, BodyKind, Data, Doc, ErrorCode, Form, LimitClass, Link, PAGING, Page,
    Param, PathParam, Request, Response, Route, Scope,
};
use crate::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, QUERY_METRICS_MAX};
use crate::platform::telemetry::buckets::WIDTH_PATTERN;
use crate::platform::telemetry::limits::SEARCH_CHARS_MAX;

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::post("/api/v1/metrics", &track)
        .scope(Scope::Ingest)
        .limit(LimitClass::Single)
        .doc(TRACK),
    Route::post("/api/v1/metrics/batch", &track_batch)
        .scope(Scope::Ingest)
        .limit(LimitClass::Batch)
        .body(BodyKind::Batch)
        .doc(TRACK_BATCH),
    Route::get("/api/v1/metrics", &list).doc(LIST),
    Route::get("/api/v1/metrics/{name}", &get).doc(GET),
    Route::delete("/api/v1/metrics/{name}", &delete).scope(Scope::Admin).doc(DELETE),
    Route::get("/api/v1/metrics/{name}/query", &query).limit(LimitClass::Query).doc(QUERY),
    Route::get("/api/v1/query", &query_several).limit(LimitClass::Query).doc(QUERY_SEVERAL),
    Route::get("/api/v1/metrics/{name}/tags", &tags).doc(TAGS),
    Route::get("/api/v1/metrics/{name}/tags/{key}/values", &tag_values).doc(TAG_VALUES),
];

async fn track(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let (points, tracked) =
        ops::resolve_one(app.engine(), app.now(), &body, |point| Tracked::from(point))?;
    let response = Response::created(&Data { data: tracked })?;
    let receipt = req.receipt(&response);
    ops::store(&app, points, receipt).await?;
    Ok(response)
}

async fn track_batch(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let body = req.take_json_body()?;
    let work = |app: &App, body: &[u8]| ops::resolve_batch(app.engine(), app.now(), body);
    let (points, outcome) = app.parse(body, work).await?;
    let response = Response::ok(&Data { data: BatchAnswer::from(outcome) })?;
    let receipt = req.receipt(&response);
    if !points.is_empty() || receipt.is_some() {
        ops::store(&app, points, receipt).await?;
    }
    Ok(response)
}

async fn list(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let filter = parameters::definitions(req.query(), paging)?;
    let found = app.blocking(move |app| ApiResult::Ok(ops::list(app, &filter))).await?;
    Response::ok(&definitions(found, paging, req.query().one("search")?))
}

async fn get(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name: MetricName = req.path("name")?;
    let metric = app.query(move |app| ops::definition(app, &name)).await?;
    Response::ok(&Data { data: MetricDetail::from(metric) })
}

async fn delete(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name: MetricName = req.path("name")?;
    let deleted = DeletedMetric::new(&name);
    app.blocking(move |app| ops::delete(app, &name)).await?;
    Response::ok(&Data { data: deleted })
}

async fn query(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let name: MetricName = req.path("name")?;
    let response = app.query_briefly(move |app| respond::one(app, &name, req.query())).await?;
    Ok(Response::counted(response))
}

async fn query_several(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let response = app.query_briefly(move |app| respond::several(app, req.query())).await?;
    Ok(Response::counted(response))
}

async fn tags(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let name: MetricName = req.path("name")?;
    let keys = app.blocking(move |app| ops::tag_keys(app, &name)).await?;
    Response::ok(&page::<_, TagKey>(keys, paging))
}

async fn tag_values(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let paging = req.query().paging(PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX)?;
    let name: MetricName = req.path("name")?;
    let filter = parameters::tag_values(req.query(), paging)?;
    let work = move |app: &App| ops::tag_values(app, &name, req.param("key"), &filter);
    let found = app.blocking(work).await?;
    let data: Vec<TagValue> = found.values.into_iter().map(TagValue::from).collect();
    Response::ok(&Page { data, meta: paging.meta(found.total) })
}

const TAG: &str = "Metrics";
const NAME: Param = Param::path("name", "The metric name, percent-encoded: a `/` in it is `%2F`.");
const INPUT_ERRORS: &[ErrorCode] = &[
    ErrorCode::InvalidJson,
    ErrorCode::MissingName,
    ErrorCode::InvalidName,
    ErrorCode::ReservedName,
    ErrorCode::InvalidType,
    ErrorCode::InvalidValue,
    ErrorCode::InvalidTimestamp,
    ErrorCode::InvalidTags,
    ErrorCode::TypeConflict,
    ErrorCode::CardinalityLimit,
];

const TRACK: Doc = Doc::new(TAG, "Track one metric sample")
    .about("Responds when the sample is durable according to the server's configuration.")
    .request::<MetricInput>(
        r#"{"name": "cpu.usage", "type": "gauge", "value": 42.5, "tags": {"host": "web-1"}}"#,
    )
    .created::<Data<Tracked>>()
    .links(&[Link::get("/api/v1/metrics/{name}", "name", "/data/name")])
    .errors(INPUT_ERRORS);

const TRACK_BATCH: Doc = Doc::new(TAG, "Track up to 500 metric samples")
    .about(
        "Valid items are stored; invalid items are counted and the first 50 listed. A body that is not JSON or has more than \
         500 items stores nothing.",
    )
    .request::<BatchInput>(r#"{"metrics": [{"name": "cpu.usage", "type": "gauge", "value": 42.5}]}"#)
    .ok::<Data<BatchAnswer>>()
    .errors(&[ErrorCode::InvalidJson, ErrorCode::InvalidParameter, ErrorCode::MissingField, ErrorCode::BatchTooLarge]);

const SEARCH: Param = Param::query(
    "search",
    "Only names that contain this text or all of its words, regardless of case. The best matches come first: the whole name, \
     its beginning, the beginning of a word in it, any other part. Each definition then has `series`, also with an empty text, which finds all. \
     At most 500 characters and 10 words.",
)
.form(Form::TextTo(SEARCH_CHARS_MAX))
.example("usage");

const LIST: Doc = Doc::new(TAG, "List metric definitions, by name or by how well they match")
    .parameters(&[
        SEARCH,
        Param::query("prefix", "Only names with this prefix.").example("cpu."),
        Param::query("type", "Only metrics of this type.").form(Form::OneOf(&[
            "gauge",
            "counter",
            "distribution",
            "set",
        ])),
        PAGING[0],
        PAGING[1],
    ])
    .ok::<Page<Metric>>()
    .errors(&[ErrorCode::InvalidType, ErrorCode::InvalidParameter]);

const NOT_FOUND: ErrorCode = ErrorCode::Missing(MetricName::RESOURCE);

const GET: Doc = Doc::new(TAG, "Get a metric definition")
    .parameters(&[NAME])
    .ok::<Data<MetricDetail>>()
    .errors(&[NOT_FOUND]);

const DELETE: Doc = Doc::new(TAG, "Delete a metric with all its samples")
    .parameters(&[NAME])
    .ok::<Data<DeletedMetric>>()
    .errors(&[NOT_FOUND])
    .ext();

/// The pattern of a comma-separated list of aggregations.
const AGGREGATIONS: &str = "^(last|avg|min|max|sum|rate|p50|p90|p95|p99|count)(,(last|avg|min|max|sum|rate|p50|p90|p95|p99|count))*$";

const INTERVAL: Param = Param::query(
    "interval",
    "Width of the buckets, as a number of seconds, minutes, hours or days; whole minutes for distributions and sets. \
     At most 50000 buckets. Default: the smallest of 1m, 5m, 1h and 1d with at most 1500 buckets.",
)
.form(Form::Pattern(WIDTH_PATTERN))
.example("15s");

/// Returns the parameters of a time series query: `first`, then those that all queries have.
const fn query_params(first: Param) -> [Param; 11] {
    [
        first,
    Param::query("from", "Start, inclusive. Default: one hour before `to`. A date means 00:00 UTC of that day.")
        .form(Form::Time),
    Param::query("to", "End, exclusive. Default: now. A date means the end of that day in UTC.")
        .form(Form::Time),
    Param::query(
        "aggregation",
        "One aggregation, or several joined with `,`. gauge: last, avg, min, max; counter: sum, rate; distribution: avg, \
         sum, min, max, p50, p90, p95, p99, count; set: count. Default: avg, sum, avg and count, respectively.",
    )
    .form(Form::Pattern(AGGREGATIONS))
    .example("avg,max"),
    INTERVAL,
    Param::query(
        "tags[key]",
        "Only series whose tag matches: `v` (equal), `a,b` (any of these), `!v` (not equal), `v*` (prefix), empty (series without the tag). A `\\` \
         before `,`, `!`, `*` or `\\` escapes that character. May be repeated.",
    )
    .form(Form::Tags)
    .example("web-*"),
    Param::query("group_by", "The tag to group by, `tags.<key>`, or up to 4 of them joined with `,`.")
        .form(Form::Pattern("^tags\\.[^,]+(,tags\\.[^,]+){0,3}$"))
        .example("tags.host"),
    Param::query("fill", "The value of empty buckets; `none` omits them. Default: `none`.")
        .form(Form::OneOf(&["none", "null", "zero", "previous"])),

        Param::query(
            "top",
            "With `group_by`: only this many groups, those with the largest values, the largest first; `meta` says how many there are. \
             Equal groups are in the order of their tag values. Default: all groups, by tag values; a number over 10000 is reduced to 10000.",
        )
        .form(Form::Integer(1)),
        Param::query(
            "top_by",
            "The measure of `top`: of the values of a group for the first aggregation, one for each bucket. Default: `max`.",
        )
        .form(Form::OneOf(&["max", "min", "avg", "sum", "last"])),
        Param::query(
            "format",
            "`columns` returns one array of times and one of values for each group and aggregation, a fraction of the size; \
             empty buckets are null. Default: `points`.",
        )
        .form(Form::OneOf(&["points", "columns"])),
    ]
}

const ONE_PARAMS: [Param; 11] = query_params(NAME);
const SEVERAL_PARAMS: [Param; 11] = query_params(
    Param::query("metric", "A metric name; repeated for each metric.")
        .form(Form::Texts(QUERY_METRICS_MAX))
        .required()
        .example("cpu.usage"),
);

const QUERY_ERRORS: &[ErrorCode] = &[
    NOT_FOUND,
    ErrorCode::InvalidTimestamp,
    ErrorCode::InvalidRange,
    ErrorCode::InvalidInterval,
    ErrorCode::InvalidAggregation,
    ErrorCode::InvalidParameter,
];

const QUERY: Doc = Doc::new(TAG, "Query a time series")
    .about(
        "The range is half-open. Buckets are aligned to the epoch, and their timestamp is their start. Empty buckets are \
         omitted unless `fill` is given. With `group_by`, the response contains `groups` instead of `series`; \
         the values of several tags are joined with `,`. Several aggregations, such as `min,max,avg` for a band, cost little more than one.",
    )
    .parameters(&ONE_PARAMS)
    .ok::<Data<QueryAnswer>>()
    .errors(QUERY_ERRORS);

const QUERY_SEVERAL: Doc = Doc::new(TAG, "Query time series of several metrics")
    .about(
        "Runs the same query for up to 50 metrics and returns the results in the order in which the metrics are named. Each \
         result equals that of the query of the single metric. An unknown metric fails the whole request.",
    )
    .parameters(&SEVERAL_PARAMS)
    .ok::<Data<Vec<QueryAnswer>>>()
    .errors(QUERY_ERRORS)
    .ext();

const TAGS: Doc = Doc::new(TAG, "List the tag keys of a metric")
    .parameters(&[NAME, PAGING[0], PAGING[1]])
    .ok::<Page<TagKey>>()
    .errors(&[NOT_FOUND])
    .ext();

const TAG_VALUES: Doc = Doc::new(TAG, "List the values of a tag")
    .about("Sorted by value; with `search`, the best matches first.")
    .parameters(&[
        NAME,
        Param::path("key", "The tag key, percent-encoded."),
        Param::query("search", "Only values that contain this text or all of its words, regardless of case. At most 500 characters and 10 words.")
            .form(Form::TextTo(SEARCH_CHARS_MAX)),
        Param::query("tags[key]", "Counts only series whose tag matches, in the form of a query. May be repeated.")
            .form(Form::Tags)
            .example("web-*"),
        PAGING[0],
        PAGING[1],
    ])
    .ok::<Page<TagValue>>()
    .errors(&[NOT_FOUND, ErrorCode::InvalidParameter])
    .ext();
