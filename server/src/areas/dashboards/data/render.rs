//! All widgets of a dashboard at once, off the threads that serve connections, each within a budget of time.
//!
//! Only so many questions are computed at once in the whole server; the wait for a place counts. A widget that
//! fails, panics or is late has an error, and the others do not notice. One that is late is computed to its end
//! in the background, because the engine cannot be stopped half-way, and keeps its place until then.

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
use crate::http::{ApiError, ApiResult, ErrorCode, Query};
use crate::platform::telemetry::question::InvalidQuestion;
use crate::platform::time::Moment;

/// What became of a widget.
pub(in crate::areas::dashboards) type Rendered = Result<Data, ApiError>;

/// What became of widgets, and the memory that their values count as until the answer is written.
#[derive(Debug, Default)]
pub(in crate::areas::dashboards) struct RenderedWidgets {
    pub(in crate::areas::dashboards) widgets: Vec<Rendered>,
    pub(in crate::areas::dashboards) memory: Vec<MemoryShare>,
}

/// The range that the caller wants in place of the widgets' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::dashboards) struct Span {
    from: Option<TimestampMs>,
    to: Option<TimestampMs>,
    now: TimestampMs,
}

impl Span {
    /// The range that each widget has itself, up to now.
    pub(in crate::areas::dashboards) fn own(now: TimestampMs) -> Self {
        Self { from: None, to: None, now }
    }

    /// Reads `from` and `to`. A date is the whole day, as everywhere.
    pub(in crate::areas::dashboards) fn read(query: &Query, now: TimestampMs) -> ApiResult<Self> {
        let from = query.moment("from", now)?.map(Moment::start);
        let to = query.moment("to", now)?.map(Moment::end);
        let span = Self { from, to, now };
        if span.from.is_some_and(|from| from >= span.end()) {
            return Err(InvalidQuestion::RangeEmpty.into());
        }
        Ok(span)
    }

    /// The range of a widget with these options.
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

    /// This millisecond is part of what lies up to now.
    fn end(&self) -> TimestampMs {
        self.to.unwrap_or(TimestampMs(self.now.0 + 1))
    }
}

/// Computes what the widgets show, in their order.
pub(in crate::areas::dashboards) async fn render<'a>(
    app: &Arc<App>,
    widgets: impl IntoIterator<Item = &'a Widget>,
    span: Span,
) -> RenderedWidgets {
    let all = join_all(widgets.into_iter().map(|widget| one(app, widget, span))).await;
    let mut rendered = RenderedWidgets::default();
    for outcome in all {
        rendered.widgets.push(outcome.map(|(data, memory)| {
            rendered.memory.push(memory);
            data
        }));
    }
    rendered
}

async fn one(app: &Arc<App>, widget: &Widget, span: Span) -> ApiResult<(Data, MemoryShare)> {
    let range = span.range(&widget.definition.options)?;
    let definition = widget.definition.clone();
    let work = app.query(move |app| -> Result<_, DashboardsError> {
        let data = compute(app, &definition, range)?;
        let mut memory = app.engine().memory().share(MemoryOwner::Answers);
        // The others are still to come, and the answer waits for all of them.
        memory.grow(data.bytes() as u64).map_err(Error::from)?;
        Ok((data, memory))
    });
    let rendered = within(app.widget_timeout(), work).await;
    if let Err(error) = &rendered
        && let Some(cause) = error.cause()
    {
        // Where the server is full, the answer says so: that is no fault.
        if error.code() == ErrorCode::Overloaded {
            tracing::debug!(widget = widget.id, cause, "a widget was refused");
        } else {
            tracing::error!(widget = widget.id, cause, "a widget failed");
        }
    }
    rendered
}

/// What `work` answers, when it does so in time.
async fn within<T>(budget: Duration, work: impl Future<Output = ApiResult<T>>) -> ApiResult<T> {
    match tokio::time::timeout(budget, work).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let ms = budget.as_millis();
            let message = format!("the widget was not computed within {ms} ms");
            Err(ApiError::new(ErrorCode::Unavailable, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_widget_that_never_ends_delays_the_others_by_its_budget_and_no_more() {
        let budget = Duration::from_millis(5_000);
        let works: Vec<std::pin::Pin<Box<dyn Future<Output = ApiResult<u8>>>>> =
            vec![Box::pin(ready(Ok(1))), Box::pin(pending()), Box::pin(ready(Ok(3)))];
        let all = join_all(works.into_iter().map(|work| within(budget, work)));
        let answers = tokio::time::timeout(budget + Duration::from_millis(1), all).await.unwrap();
        let codes: Vec<Result<u8, &str>> = answers
            .into_iter()
            .map(|answer| answer.map_err(|error| error.code().as_str()))
            .collect();
        assert_eq!(codes, [Ok(1), Err("unavailable"), Ok(3)]);
    }

    #[test]
    fn the_caller_s_range_goes_before_the_widget_s() {
        let now = TimestampMs(100 * 86_400_000);
        let read = |text: &str| {
            let span = Span::read(&Query::parse(text).unwrap(), now)?;
            let range = span.range(&WidgetOptions::default())?;
            Ok((range.start.0, range.end.0))
        };
        let day = 86_400_000;
        let ok = |range: (i64, i64)| -> Result<(i64, i64), &str> { Ok(range) };
        let told = |text: &str| read(text).map_err(|error: ApiError| error.code().as_str());
        assert_eq!(told(""), ok((99 * day, 100 * day + 1)));
        assert_eq!(told("from=1970-02-01"), ok((31 * day, 100 * day + 1)));
        assert_eq!(told("to=1970-02-01"), ok((31 * day, 32 * day)));
        assert_eq!(told("from=1970-01-02&to=1970-01-03"), ok((day, 3 * day)));
        assert_eq!(told("from=1970-01-03&to=1970-01-02"), Err("invalid_range"));
        assert_eq!(told("from=1970-01-03&to=1970-01-03"), ok((2 * day, 3 * day)));
        assert_eq!(told("from=1971-01-01"), Err("invalid_range"));
        assert_eq!(told("from=soon"), Err("invalid_timestamp"));
        assert_eq!(told("to="), Err("invalid_timestamp"));
    }
}
