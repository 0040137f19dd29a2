//! Queries from parameters to the response: parsed, run, and written as JSON. All of it blocks.

use telltale_engine::Error;

use super::{query, render};
use crate::app::App;
use crate::http::{ApiResult, Query};
use crate::platform::json::ChargedJson;

/// Returns a page of events as JSON.
pub(super) fn list(app: &App, parameters: &Query) -> ApiResult<ChargedJson> {
    let request = query::list(parameters, app.now())?;
    let page = app.engine().list_events(&request.query)?;
    Ok(render::list(&request, &page, app.engine().memory()).map_err(Error::from)?)
}

/// Returns the number of events as JSON.
pub(super) fn count(app: &App, parameters: &Query) -> ApiResult<ChargedJson> {
    let query = query::count(parameters, app.now())?;
    let result = app.engine().query_events(&query)?;
    render::count(&query, &result, app.engine().memory())
}

/// Returns statistics of a number of events, in the order of [`query::STATISTICS`].
pub(super) fn stats(app: &App, parameters: &Query) -> ApiResult<Vec<Option<f64>>> {
    let query = query::stats(parameters, app.now())?;
    Ok(app.engine().query_events(&query)?.all.whole)
}
