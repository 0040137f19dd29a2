//! The checks that run as jobs, and what they leave behind.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use super::check::{CheckOutcome, Checker};
use super::condition::CheckResult;
use super::model::MonitorTarget;
use super::table::{CurrentMonitor, DueCheck, Maintained};
use super::{metrics, ops};
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::MonitorId;
use crate::areas::status::limits;
use crate::http::{ApiError, ApiResult};
use crate::jobs::EnqueuedPrefix;
use crate::jobs::work::{WorkError, WorkKind, WorkerPool};
use crate::platform::outbound::Lane;

/// The arguments of a job: the monitor, and the number of its check.
#[derive(Debug, Serialize, Deserialize)]
struct CheckItem {
    monitor: String,
    number: u64,
}

/// Checks a monitor. The next one is due soon, so a check that was lost is not repeated.
const CHECK: WorkKind<CheckItem> = check_kind("telltale.monitors.check", "telltale-monitors");

/// Checks a monitor whose target is new, or was slower than usual.
const CHECK_TRIAL: WorkKind<CheckItem> =
    check_kind("telltale.monitors.check_trial", "telltale-monitors-trial");

/// Checks a monitor whose target hangs or is slow.
const CHECK_SLOW: WorkKind<CheckItem> =
    check_kind("telltale.monitors.check_slow", "telltale-monitors-slow");

const fn check_kind(class: &'static str, queue: &'static str) -> WorkKind<CheckItem> {
    WorkKind::new(class, queue)
        .attempts(1)
        .timeout_seconds(limits::MONITOR_TIMEOUT_SECONDS_MAX + 30)
}

/// Adds the work of this module. Each lane has a queue, so that checks which wait for slow ones
/// hold no worker of the others.
pub(in crate::areas::status) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    let runs = |lane| {
        let app = Arc::downgrade(app);
        move |CheckItem { monitor, number }| {
            let app = app.upgrade();
            async move {
                match (app, MonitorId::parse(&monitor)) {
                    (Some(app), Some(id)) => run_due(&app, DueCheck { id, number, lane }).await,
                    // The server ends, or a job of another version.
                    _ => Ok(()),
                }
            }
        }
    };
    pool.queue(CHECK.queue, limits::CHECKS_AT_ONCE)
        .on(&CHECK, runs(Lane::Usual))
        .queue(CHECK_TRIAL.queue, limits::TRIAL_CHECKS_AT_ONCE)
        .on(&CHECK_TRIAL, runs(Lane::Trial))
        .queue(CHECK_SLOW.queue, limits::SLOW_CHECKS_AT_ONCE)
        .on(&CHECK_SLOW, runs(Lane::Slow))
}

/// Enqueues a job for each check that is due. Blocks.
pub(in crate::areas::status) fn enqueue_due(app: &App) -> Result<(), telltale_engine::Error> {
    let due = app.status().monitors().hand_out();
    let item = |check: &DueCheck| {
        let item = CheckItem { monitor: check.id.text(), number: check.number };
        // The jobs of an earlier process are of its own start.
        let key = format!("{}:{}:{}", app.began().0, item.monitor, item.number);
        (item, key)
    };
    let mut enqueued = Ok(());
    let kinds = [(Lane::Usual, &CHECK), (Lane::Trial, &CHECK_TRIAL), (Lane::Slow, &CHECK_SLOW)];
    for (lane, kind) in kinds {
        let due: Vec<DueCheck> = due.iter().filter(|check| check.lane == lane).copied().collect();
        let items: Vec<(CheckItem, String)> = due.iter().map(item).collect();
        let items = items.iter().map(|(item, key)| (item, key.as_str()));
        let written = kind.enqueue_prefix_once(app.jobs(), items);
        let EnqueuedPrefix { accepted, refused, .. } =
            written.unwrap_or_else(EnqueuedPrefix::none_because);
        if let Some(error) = refused {
            // The jobs of those before it run.
            app.status().monitors().hand_back(due.get(accepted..).unwrap_or_default());
            enqueued = Err(telltale_engine::Error::Unavailable(error.to_string()));
        }
    }
    enqueued
}

/// Does what time brings to the monitors, which are under planned maintenance as `maintained` says.
/// Blocks.
pub(in crate::areas::status) fn pass_time(
    app: &App,
    maintained: &Maintained,
    now: TimestampMs,
) -> Result<(), telltale_engine::Error> {
    let states = app.status().monitors().pass_time(maintained)?;
    metrics::write_states(app.engine(), &states, now)
}

/// Checks a monitor now. Returns it as it is afterwards.
pub(super) async fn check_now(app: &Arc<App>, id: MonitorId) -> ApiResult<CurrentMonitor> {
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    check_running(&found)?;
    let _one_of_few = app.status().enter_check().await;
    let mut outcome = check(app, &found, found.condition.lane()).await;
    if matches!(outcome, CheckOutcome::TooSlow { .. }) {
        outcome = check(app, &found, Lane::Trial).await;
    }
    match outcome {
        CheckOutcome::Done(result) => observe(app, &found, result).await?,
        _ if matches!(found.monitor.settings.target, MonitorTarget::Heartbeat { .. }) => {
            return Err(StatusError::State("the monitor waits for reports").into());
        }
        CheckOutcome::NotBegun | CheckOutcome::TooSlow { .. } => {
            return Err(StatusError::Busy("too many checks run").into());
        }
    }
    app.blocking(move |app| ops::get(app, id)).await
}

/// Takes a report for a heartbeat monitor. Returns the monitor as it is afterwards.
pub(super) async fn report(
    app: &Arc<App>,
    id: MonitorId,
    result: CheckResult,
) -> ApiResult<CurrentMonitor> {
    let found = app.blocking(move |app| ops::get(app, id)).await?;
    check_running(&found)?;
    if !matches!(found.monitor.settings.target, MonitorTarget::Heartbeat { .. }) {
        return Err(StatusError::State("only heartbeat monitors take reports").into());
    }
    observe(app, &found, result).await?;
    app.blocking(move |app| ops::get(app, id)).await
}

fn check_running(found: &CurrentMonitor) -> Result<(), StatusError> {
    match found.monitor.settings.is_paused {
        true => Err(StatusError::State("the monitor is paused")),
        false => Ok(()),
    }
}

async fn run_due(app: &Arc<App>, due: DueCheck) -> Result<(), WorkError> {
    let Some(found) = app.status().monitors().begin(due) else { return Ok(()) };
    let result = match check(app, &found, due.lane).await {
        CheckOutcome::Done(result) => result,
        CheckOutcome::TooSlow { began } => {
            app.status().monitors().hand_back_slower(due, began);
            return Ok(());
        }
        CheckOutcome::NotBegun => {
            // It is due.
            app.status().monitors().hand_back(&[due]);
            return Ok(());
        }
    };
    if let Err(error) = observe(app, &found, result).await {
        let cause = error.cause().unwrap_or_else(|| error.message());
        tracing::error!(cause, "the result of a check could not be stored yet");
    }
    Ok(())
}

async fn check(app: &App, found: &CurrentMonitor, lane: Lane) -> CheckOutcome {
    Checker { client: app.status().client(), clock: app.clock(), lane }
        .check(&found.monitor.settings)
        .await
}

/// Records the result of a check, in the condition of the monitor and as metrics. It counts even if
/// these cannot be written.
async fn observe(app: &Arc<App>, found: &CurrentMonitor, result: CheckResult) -> ApiResult<()> {
    let (checked, noted) = (Arc::clone(&found.monitor), result.clone());
    let observed = app.blocking(move |app| {
        app.status().monitors().observe(&checked, noted).map_err(StatusError::from)
    });
    let Some(after) = observed.await? else { return Ok(()) };
    let write = metrics::write(app.engine(), &after.monitor, after.condition.state, &result);
    let written = match write {
        Ok(write) => app.write(write).await.map(drop),
        Err(refusal) => Err(ApiError::internal(refusal)),
    };
    if let Err(error) = written {
        let cause = error.cause().unwrap_or_else(|| error.message());
        tracing::warn!(cause, "the metrics of a check could not be written");
    }
    Ok(())
}
