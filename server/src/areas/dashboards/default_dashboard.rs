//! The default dashboard of a new server, which shows the server's own metrics. It can be changed
//! and deleted like any other, and is never recreated.

use super::error::DashboardsError;
use super::ops;
use super::wire::ImportInput;
use crate::app::App;
use crate::http::{ApiError, ApiResult};

/// The export from which it is created.
const TELLTALE: &str = include_str!("first.json");

/// Creates the default dashboard, unless a dashboard exists. Must be called once, before the first
/// API key of a new server is created. Blocks.
pub fn make_first(app: &App) -> ApiResult<()> {
    if ops::any_exists(app)? {
        return Ok(());
    }
    let input: ImportInput = serde_json::from_str(TELLTALE).map_err(ApiError::internal)?;
    let draft = input.into_draft().map_err(DashboardsError::from)?;
    let dashboard = ops::build(app, draft, "local")?;
    ops::insert(app, dashboard, None)?;
    Ok(())
}
