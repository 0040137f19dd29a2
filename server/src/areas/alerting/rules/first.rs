//! The first rules of a new server, about the server itself. They are disabled, because they name
//! no channel yet; they can be changed and deleted like any others, and are never recreated.

use super::model::Rule;
use super::ops;
use super::wire::RuleInput;
use crate::app::App;
use crate::areas::alerting::documents;
use crate::areas::alerting::error::AlertingError;
use crate::http::{ApiError, ApiResult};

const FIRST: &str = include_str!("first.json");

/// The user that is shown as their creator.
const CREATED_BY: &str = "telltale";

/// Creates the first rules, unless a rule exists. Must be called once, before the first API key of
/// a new server is created. Blocks.
pub fn make_first(app: &App) -> ApiResult<()> {
    if documents::begin(app).count::<Rule>()? > 0 {
        return Ok(());
    }
    let inputs: Vec<RuleInput> = serde_json::from_str(FIRST).map_err(ApiError::internal)?;
    for input in inputs {
        let settings = input.into_settings().map_err(AlertingError::from)?;
        ops::create(app, settings, CREATED_BY.to_owned())?;
    }
    Ok(())
}
