//! What the service does for the jobs themselves, as jobs.

use serde::{Deserialize, Serialize};

use crate::jobs::Jobs;
use crate::jobs::work::{WorkError, WorkKind};

/// Forgets dead jobs that died too long ago.
pub const TRIM_DEAD: WorkKind<TrimDead> = WorkKind::new("telltale.jobs.trim_dead", "telltale");

/// All that died too long ago: there is nothing to say about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimDead {}

/// Does [`TRIM_DEAD`].
pub async fn trim_dead(jobs: &Jobs) -> Result<(), WorkError> {
    let forgotten = jobs.trim_dead().await?;
    if forgotten > 0 {
        tracing::info!(forgotten, "dead jobs were kept long enough");
    }
    Ok(())
}
