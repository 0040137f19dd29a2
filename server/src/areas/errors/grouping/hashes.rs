//! Hashes an occurrence by all supported versions of the grouping rules.

use super::super::model::GroupHashes;
use super::super::occurrence::Occurrence;
use super::{hash, version_1};

/// Returns the hashes of an occurrence by the current and the previous version of the rules.
pub(in crate::areas::errors) fn hashes_of(occurrence: &Occurrence<'_>) -> GroupHashes {
    let (current, earlier) = (hash::group_of(occurrence), version_1::group_of(occurrence));
    GroupHashes { current, earlier }
}
