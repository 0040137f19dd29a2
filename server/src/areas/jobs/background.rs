//! The background work of jobs: their history, and the maintenance of the jobs themselves, run as
//! jobs of the server.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::jobs::work::{WorkError, WorkKind, WorkerPool};
use crate::jobs::{Jobs, JobsError};
use crate::platform::sweeps::Sweep;

/// How many jobs of the server's own queue run concurrently.
const OWN_JOBS_AT_ONCE: u32 = 2;
/// How often the history of jobs is written.
const HISTORY_PERIOD: Duration = Duration::from_secs(1);
/// How often the queues are sampled for the history.
const SAMPLE_PERIOD: Duration = Duration::from_secs(10);
/// How often expired dead jobs are deleted.
const TRIM_PERIOD: Duration = Duration::from_secs(60 * 60);

/// Returns the sweeps of jobs.
pub fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let [history, sampled, trimmed] = [(), (), ()].map(|()| Arc::clone(app.jobs()));
    vec![
        Sweep::new("jobs_history", HISTORY_PERIOD, move |now| history.write_history(now)),
        Sweep::new("jobs_sample", SAMPLE_PERIOD, move |now| {
            sampled.sample(now).map_err(JobsError::into_engine)
        }),
        Sweep::new("jobs_trim_dead", TRIM_PERIOD, move |_| {
            let handed_in = TRIM_DEAD.enqueue_once(&trimmed, &TrimDead {}, TRIM_DEAD.class);
            handed_in.map(drop).map_err(JobsError::into_engine)
        }),
    ]
}

/// Adds the work that the server runs as jobs.
pub fn add_work(pool: WorkerPool, app: &App) -> WorkerPool {
    let jobs = Arc::clone(app.jobs());
    pool.queue(TRIM_DEAD.queue, OWN_JOBS_AT_ONCE).on(&TRIM_DEAD, move |TrimDead {}| {
        let jobs = Arc::clone(&jobs);
        async move { trim_dead(&jobs).await }
    })
}

/// Deletes dead jobs whose retention has passed.
pub const TRIM_DEAD: WorkKind<TrimDead> = WorkKind::new("telltale.jobs.trim_dead", "telltale");

/// The arguments of [`TRIM_DEAD`]; it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimDead {}

/// Runs [`TRIM_DEAD`].
pub async fn trim_dead(jobs: &Jobs) -> Result<(), WorkError> {
    let deleted = jobs.trim_dead().await?;
    if deleted > 0 {
        tracing::info!(deleted, "deleted expired dead jobs");
    }
    Ok(())
}
