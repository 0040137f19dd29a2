//! Ids in paths.

use crate::areas::errors::model::{GroupId, OccurrenceId};
use crate::http::{PathParam, Resource};

impl PathParam for GroupId {
    const RESOURCE: &'static Resource = &Resource::new("error_not_found", "error");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

impl PathParam for OccurrenceId {
    const RESOURCE: &'static Resource = &Resource::new("occurrence_not_found", "occurrence");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}
