//! Ids in paths.

use crate::areas::errors::model::GroupId;
use crate::http::{PathParam, Resource};

impl PathParam for GroupId {
    const RESOURCE: Resource = Resource::ErrorGroup;

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}
