//! Maintenance of the jobs themselves, run as jobs of the server.

use serde::{Deserialize, Serialize};

use crate::jobs::Jobs;
use crate::jobs::work::{WorkError, WorkKind};

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
