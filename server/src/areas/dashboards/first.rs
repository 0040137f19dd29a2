//! The dashboard that a new server has: over its own health, and otherwise like any other. Changed, it stays
//! changed; deleted, it does not come back.

use super::error::DashboardsError;
use super::ops;
use super::wire::ImportInput;
use crate::app::App;
use crate::http::{ApiError, ApiResult};

/// The export that it is made from.
const TELLTALE: &str = include_str!("first.json");

/// Makes the dashboard, unless there is one already. To be called once, before a new server has its first key.
/// Blocks.
pub fn make_first(app: &App) -> ApiResult<()> {
    if ops::is_any(app)? {
        return Ok(());
    }
    let input: ImportInput = serde_json::from_str(TELLTALE).map_err(ApiError::internal)?;
    let draft = input.into_draft().map_err(DashboardsError::from)?;
    let dashboard = ops::make(app, draft)?;
    ops::insert(app, dashboard, None)?;
    Ok(())
}
