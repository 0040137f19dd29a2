//! Ids in paths.

use crate::areas::errors::model::GroupId;
use crate::http::{PathParam, Resource};

impl PathParam for GroupId {
    const RESOURCE: &'static Resource = &Resource::new("error_not_found", "error");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}
