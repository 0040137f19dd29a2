//! Queries from parameters to the response: parsed, run, and written as JSON. All of it blocks.

use telltale_engine::MetricQuery;

use super::error::MetricsError;
use super::model::{MetricName, ParsedQuery};
use super::render::{self, ResponseWriter};
use super::top::keep_top;
use super::{ops, query};
use crate::app::App;
use crate::http::{ApiError, ApiResult, Query};
use crate::limits;
use crate::platform::json::ChargedJson;

/// Runs a query and returns the response as JSON.
pub(super) fn one(app: &App, name: &MetricName, parameters: &Query) -> ApiResult<ChargedJson> {
    let parsed = parse(app, name.clone(), parameters)?;
    let mut result = ops::ask(app, &parsed.query)?;
    let counts = keep_top(parsed.top, &mut result);
    render::response(&parsed, counts, &result, app.engine().memory())
}

/// Runs a query of several metrics and returns the response as JSON, in the order in which they are
/// named.
pub(super) fn several(app: &App, parameters: &Query) -> ApiResult<ChargedJson> {
    let names: Vec<&str> = parameters.all("metric").collect();
    if names.is_empty() || names.len() > limits::QUERY_METRICS_MAX {
        let max = limits::QUERY_METRICS_MAX;
        return Err(ApiError::parameter("metric", format_args!("must be given 1 to {max} times")));
    }
    let parsed_queries: Vec<ParsedQuery> = names
        .into_iter()
        .map(|name| parse(app, known(name)?, parameters))
        .collect::<ApiResult<_>>()?;
    let queries: Vec<MetricQuery> = parsed_queries.iter().map(|one| one.query.clone()).collect();
    let mut response = ResponseWriter::list(app.engine().memory())?;
    let mut parsed_iter = parsed_queries.iter();
    app.engine().query_all(&queries, |mut result| -> ApiResult<()> {
        let Some(parsed) = parsed_iter.next() else { return Ok(()) };
        let counts = keep_top(parsed.top, &mut result);
        response.push(parsed, counts, &result)
    })?;
    response.into_text()
}

/// Returns the name in a parameter. A string that is not a valid name cannot be that of a metric.
fn known(name: &str) -> Result<MetricName, MetricsError> {
    MetricName::new(name).map_err(|_| MetricsError::NotFound(name.to_owned()))
}

fn parse(app: &App, name: MetricName, parameters: &Query) -> ApiResult<ParsedQuery> {
    let kind = ops::kind_of(app, name.as_str());
    let kind = kind.ok_or_else(|| MetricsError::NotFound(name.to_string()))?;
    query::read(name, kind, parameters, app.now())
}
