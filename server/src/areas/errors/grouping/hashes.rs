//! What an occurrence goes by under all rules that made groups.

use super::super::model::GroupHashes;
use super::super::occurrence::Occurrence;
use super::{hash, version_1};

/// The hashes that an occurrence goes by.
pub(in crate::areas::errors) fn hashes_of(occurrence: &Occurrence<'_>) -> GroupHashes {
    let (current, earlier) = (hash::group_of(occurrence), version_1::group_of(occurrence));
    GroupHashes { current, earlier }
}
