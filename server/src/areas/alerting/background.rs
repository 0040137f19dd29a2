//! The background work of alerting: the evaluation of rules, and what time brings.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, TimestampMs};

use super::error::AlertingError;
use super::{delivery, evaluation, received};
use crate::app::App;
use crate::jobs::work::WorkerPool;
use crate::platform::sweeps::Sweep;

/// How often it is looked for timers that are due.
const TIMERS_PERIOD: Duration = Duration::from_secs(1);
/// How often alerts are deleted that ended long ago.
const TRIM_PERIOD: Duration = Duration::from_secs(60 * 60);
/// A difference of the clocks that is a change of the wall clock, in milliseconds. Smaller ones are
/// adjustments of its speed.
const CLOCK_CHANGE_MS: i64 = 5_000;

/// Evaluates all rules, and hands in what is to be sent. Blocks.
pub fn evaluate_rules(app: &App) -> Result<(), AlertingError> {
    evaluation::evaluate(app)?;
    delivery::send_due(app);
    Ok(())
}

/// Returns the sweep that evaluates the rules. It may take long, so it has its own loop.
pub(crate) fn evaluation_sweep(app: &Arc<App>) -> Sweep {
    let app = Arc::clone(app);
    let period = app.alerting().rules().evaluation_interval.duration();
    Sweep::new("alerting_evaluate", period, move |_| {
        evaluate_rules(&app).map_err(AlertingError::into_engine)
    })
}

/// Returns the sweeps of timers, which must not wait for others.
pub(crate) fn timer_sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [timed, trimmed] = [(), ()].map(|()| Arc::clone(app));
    let mut clocks = Clocks::default();
    vec![
        Sweep::new("alerting_timers", TIMERS_PERIOD, move |now| {
            let shift = clocks.changed(timed.clock(), now);
            pass_time(&timed, shift, now).map_err(AlertingError::into_engine)
        }),
        Sweep::new("alerting_trim", TRIM_PERIOD, move |now| {
            let kept = trimmed.alerting().rules().keep_resolved.duration().as_millis();
            let kept = i64::try_from(kept).unwrap_or(i64::MAX);
            let keep_from = TimestampMs(now.0.saturating_sub(kept));
            let trimmed = trimmed.alerting().ledger().trim(keep_from);
            trimmed.map(drop).map_err(AlertingError::into_engine)
        }),
    ]
}

/// Adds the work that alerting runs as jobs.
pub(crate) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    delivery::add_work(pool, app)
}

/// Does what is due: mutes, escalates, ends the alerts of rules that are gone, sends messages.
pub(super) fn pass_time(
    app: &App,
    shift: Option<i64>,
    now: TimestampMs,
) -> Result<(), AlertingError> {
    let alerting = app.alerting();
    if let Some(shift) = shift {
        alerting.evaluation().clock_changed(app.clock().steady());
        alerting.received().shift(shift);
    }
    received::expire(app)?;
    if !alerting.ledger().is_calm() {
        let directory = alerting.directory(app)?;
        let ended = evaluation::ended(app, &directory, alerting.ledger().rules())?;
        alerting.ledger().change(&directory, now, |change| {
            if let Some(shift) = shift {
                change.shift(shift);
            }
            ended.into_iter().for_each(|rule| change.end_rule(&Some(rule)));
            change.pass_time();
            Ok(())
        })?;
    }
    delivery::send_due(app);
    Ok(())
}

/// Compares the wall clock with the monotonic clock.
#[derive(Debug, Default)]
struct Clocks {
    /// Both, at the last call.
    last: Option<(TimestampMs, Duration)>,
}

impl Clocks {
    /// Returns by how much the wall clock was changed since the last call, in milliseconds, if it
    /// was.
    fn changed(&mut self, clock: &Clock, now: TimestampMs) -> Option<i64> {
        let steady = clock.steady();
        let (wall, before) = self.last.replace((now, steady))?;
        let passed = i64::try_from(steady.saturating_sub(before).as_millis()).unwrap_or(i64::MAX);
        let change = now.0.saturating_sub(wall.0).saturating_sub(passed);
        (change.unsigned_abs() > CLOCK_CHANGE_MS.unsigned_abs()).then_some(change)
    }
}
