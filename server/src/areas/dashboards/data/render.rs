//! Computes all widgets of a dashboard concurrently, off the connection threads, each within
//! a timeout.
//!
//! The number of concurrent queries is limited server-wide; waiting for a permit counts towards the
//! timeout. A widget that fails, panics or times out gets an error without affecting the others. A
//! widget that times out is still computed to its end in the background, because the engine cannot
//! cancel a query, and holds its permit until then.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use telltale_engine::{Error, MemoryOwner, MemoryShare, TimeRange, TimestampMs};

use super::shape::{Data, compute};
use crate::app::App;
use crate::areas::dashboards::error::DashboardsError;
use crate::areas::dashboards::model::Widget;
use crate::areas::dashboards::options::WidgetOptions;
use crate::areas::dashboards::variables::ChosenValues;
use crate::http::{ApiError, ApiResult, ErrorCode, Query};
use crate::platform::telemetry::query_params::InvalidQueryParams;
use crate::platform::time::Moment;

/// The values of a widget, or its error.
pub(in crate::areas::dashboards) type Rendered = Result<Data, ApiError>;

/// The results of widgets, with the memory reserved for their values until the response is written.
#[derive(Debug, Default)]
pub(in crate::areas::dashboards) struct RenderedWidgets {
    pub(in crate::areas::dashboards) widgets: Vec<Rendered>,
    pub(in crate::areas::dashboards) memory: Vec<MemoryShare>,
}

/// The range requested by the caller, which replaces the widgets' own ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::dashboards) struct RequestedRange {
    from: Option<TimestampMs>,
    to: Option<TimestampMs>,
    now: TimestampMs,
}

impl RequestedRange {
    /// Uses each widget's own range, up to now.
    pub(in crate::areas::dashboards) fn own(now: TimestampMs) -> Self {
        Self { from: None, to: None, now }
    }

    /// Parses `from` and `to`. A date as `to` includes the whole day, as in every route.
    pub(in crate::areas::dashboards) fn read(query: &Query, now: TimestampMs) -> ApiResult<Self> {
        let from = query.moment("from", now)?.map(Moment::start);
        let to = query.moment("to", now)?.map(Moment::end);
        let requested = Self { from, to, now };
        if requested.from.is_some_and(|from| from >= requested.end()) {
            return Err(InvalidQueryParams::RangeEmpty.into());
        }
        Ok(requested)
    }

    /// Returns the range of a widget with these options.
    pub(in crate::areas::dashboards) fn range(
        &self,
        options: &WidgetOptions,
    ) -> Result<TimeRange, DashboardsError> {
        let before = self.to.unwrap_or(self.now);
        let start = match self.from {
            Some(from) => from,
            None => TimestampMs(before.0.saturating_sub(options.range_ms()?)),
        };
        Ok(TimeRange { start, end: self.end() })
    }

    /// Returns the exclusive end of the range; without `to`, the current millisecond is included.
    fn end(&self) -> TimestampMs {
        self.to.unwrap_or(TimestampMs(self.now.0 + 1))
    }
}

/// Computes the values of the widgets, in the same order, with these values in place of variables.
pub(in crate::areas::dashboards) async fn render<'a>(
    app: &Arc<App>,
    widgets: impl IntoIterator<Item = &'a Widget>,
    requested: RequestedRange,
    chosen: &ChosenValues,
) -> RenderedWidgets {
    let render = |widget| render_widget(app, widget, requested, chosen);
    let all = join_all(widgets.into_iter().map(render)).await;
    let mut rendered = RenderedWidgets::default();
    for outcome in all {
        rendered.widgets.push(outcome.map(|(data, memory)| {
            rendered.memory.push(memory);
            data
        }));
    }
    rendered
}

async fn render_widget(
    app: &Arc<App>,
    widget: &Widget,
    requested: RequestedRange,
    chosen: &ChosenValues,
) -> ApiResult<(Data, MemoryShare)> {
    let range = requested.range(&widget.definition.options)?;
    let mut definition = widget.definition.clone();
    chosen.apply(&mut definition.query);
    let work = app.query(move |app| -> Result<_, DashboardsError> {
        let data = compute(app, &definition, range)?;
        let mut memory = app.engine().memory().share(MemoryOwner::Answers);
        // Reserved until the response is written, which waits for all widgets.
        memory.grow(data.bytes() as u64).map_err(Error::from)?;
        Ok((data, memory))
    });
    let rendered = with_timeout(app.widget_timeout(), work).await;
    if let Err(error) = &rendered
        && let Some(cause) = error.cause()
    {
        // Overload is reported in the response; it is not a server fault.
        if error.code() == ErrorCode::Overloaded {
            tracing::debug!(widget = widget.id.as_str(), cause, "widget rejected");
        } else {
            tracing::error!(widget = widget.id.as_str(), cause, "widget failed");
        }
    }
    rendered
}

/// Returns the output of `work`, or an error after `timeout`.
async fn with_timeout<T>(
    timeout: Duration,
    work: impl Future<Output = ApiResult<T>>,
) -> ApiResult<T> {
    match tokio::time::timeout(timeout, work).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let ms = timeout.as_millis();
            let message = format!("the widget was not computed within {ms} ms");
            Err(ApiError::new(ErrorCode::Unavailable, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use serde_json::json;
    use telltale_engine::Memory;

    use super::*;
    use crate::areas::dashboards::ops;
    use crate::areas::testing::TestServer;

    #[tokio::test(start_paused = true)]
    async fn a_widget_that_never_completes_delays_the_others_by_its_timeout_at_most() {
        let timeout = Duration::from_millis(5_000);
        let works: Vec<std::pin::Pin<Box<dyn Future<Output = ApiResult<u8>>>>> =
            vec![Box::pin(ready(Ok(1))), Box::pin(pending()), Box::pin(ready(Ok(3)))];
        let all = join_all(works.into_iter().map(|work| with_timeout(timeout, work)));
        let outcomes = tokio::time::timeout(timeout + Duration::from_millis(1), all).await.unwrap();
        let codes: Vec<Result<u8, &str>> = outcomes
            .into_iter()
            .map(|outcome| outcome.map_err(|error| error.code().as_str()))
            .collect();
        assert_eq!(codes, [Ok(1), Err("unavailable"), Ok(3)]);
    }

    #[test]
    fn the_values_of_a_widget_are_reserved_until_the_response_is_written() {
        let memory = Memory::new(64 << 30);
        let options = telltale_engine::Options { memory: memory.clone(), ..Default::default() };
        let house = TestServer::with(options);
        house.post("/api/v1/metrics", &json!({"name": "m", "type": "gauge", "value": 1})).data(201);
        let query = json!({"metric": "m", "interval": "1h"});
        let definition = json!({"type": "graph", "title": "t", "query": query});
        let dashboard = json!({"version": 1, "name": "n", "widgets": [definition]});
        let created = house.post("/api/v1/dashboards/import", &dashboard).data(201);
        let id = created["id"].as_str().unwrap().to_owned().into();
        let found = ops::get(house.app(), &id).unwrap().value;
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let requested = RequestedRange::own(house.app().now());
        let render = || {
            runtime.block_on(render(
                house.app(),
                &found.widgets,
                requested,
                &ChosenValues::default(),
            ))
        };
        let held = || memory.held_by(MemoryOwner::Answers);
        let before = held();
        let rendered = render();
        let [Ok(data)] = rendered.widgets.as_slice() else { panic!("{rendered:?}") };
        assert!(matches!(data, Data::Series(points) if points.len() == 1), "{data:?}");
        assert_eq!(held() - before, data.bytes() as u64);
        drop(rendered);
        assert_eq!(held(), before);
        let _others = memory.take(MemoryOwner::Merges, memory.limit() - memory.held()).unwrap();
        let RenderedWidgets { widgets, memory: reserved } = render();
        let codes: Vec<Option<ErrorCode>> =
            widgets.iter().map(|outcome| outcome.as_ref().err().map(ApiError::code)).collect();
        assert_eq!((codes, reserved.len()), (vec![Some(ErrorCode::Overloaded)], 0));
    }

    #[test]
    fn the_requested_range_replaces_the_widget_s_own() {
        let now = TimestampMs(100 * 86_400_000);
        let read = |text: &str| {
            let requested = RequestedRange::read(&Query::parse(text).unwrap(), now)?;
            let range = requested.range(&WidgetOptions::default())?;
            Ok((range.start.0, range.end.0))
        };
        let day = 86_400_000;
        let ok = |range: (i64, i64)| -> Result<(i64, i64), &str> { Ok(range) };
        let range_of = |text: &str| read(text).map_err(|error: ApiError| error.code().as_str());
        assert_eq!(range_of(""), ok((99 * day, 100 * day + 1)));
        assert_eq!(range_of("from=1970-02-01"), ok((31 * day, 100 * day + 1)));
        assert_eq!(range_of("to=1970-02-01"), ok((31 * day, 32 * day)));
        assert_eq!(range_of("from=1970-01-02&to=1970-01-03"), ok((day, 3 * day)));
        assert_eq!(range_of("from=1970-01-03&to=1970-01-02"), Err("invalid_range"));
        assert_eq!(range_of("from=1970-01-03&to=1970-01-03"), ok((2 * day, 3 * day)));
        assert_eq!(range_of("from=1971-01-01"), Err("invalid_range"));
        assert_eq!(range_of("from=soon"), Err("invalid_timestamp"));
        assert_eq!(range_of("to="), Err("invalid_timestamp"));
    }
}
