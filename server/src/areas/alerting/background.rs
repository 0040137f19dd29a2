//! The background work of alerting: the evaluation of rules, and what time brings.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::TimestampMs;

use super::error::AlertingError;
use super::{delivery, evaluation, received};
use crate::app::App;
use crate::jobs::work::WorkerPool;
use crate::platform::sweeps::Sweep;

/// How often it is looked for timers that are due.
const TIMERS_PERIOD: Duration = Duration::from_secs(1);
/// How often alerts are deleted that ended long ago.
const TRIM_PERIOD: Duration = Duration::from_secs(60);

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
    vec![
        Sweep::new("alerting_timers", TIMERS_PERIOD, move |_| {
            pass_time(&timed).map_err(AlertingError::into_engine)
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

/// Does what is due: mutes, escalates, ends the alerts of rules that are gone, sends messages. One
/// of these that fails does not keep the others from being done.
pub(super) fn pass_time(app: &App) -> Result<(), AlertingError> {
    let ledger = app.alerting().ledger();
    ledger.follow_clock();
    let expired = received::expire(app, evaluation::receiving_for(app));
    let escalated = if ledger.is_calm() { Ok(()) } else { escalate(app) };
    delivery::send_due(app);
    expired.and(escalated)
}

fn escalate(app: &App) -> Result<(), AlertingError> {
    let alerting = app.alerting();
    let directory = alerting.directory(app)?;
    let ended = evaluation::ended(app, &directory, alerting.ledger().rules())?;
    alerting.ledger().change(&directory, |change| {
        ended.into_iter().for_each(|rule| change.end_rule(&Some(rule)));
        change.pass_time();
        Ok(())
    })
}
