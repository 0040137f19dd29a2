//! Limits of what people do with errors. Those of what SDKs send are in `crate::limits`.

/// Characters of a comment on an error.
pub(in crate::areas::errors) const ERROR_COMMENT_CHARS_MAX: usize = 4_000;
/// Entries of the activity of an error that are kept and listed: more than anybody reads.
pub(in crate::areas::errors) const ERROR_ACTIVITY_KEPT: usize = 500;
/// Entries of the activity of an error beyond those that are kept, before the oldest are deleted:
/// so a change of an error that has had many does not delete one each time.
pub(in crate::areas::errors) const ERROR_ACTIVITY_SURPLUS: usize = 50;
/// Entries of activity that are inspected between two writes when all are trimmed.
pub(in crate::areas::errors) const ERROR_ACTIVITY_STEP: usize = 10_000;
/// Errors whose occurrences have all expired that are deleted at a time: others wait meanwhile.
pub(in crate::areas::errors) const ERRORS_EXPIRED_STEP: usize = 500;
/// At most one in this many groups is protected from eviction by its state.
pub(in crate::areas::errors) const ERROR_GROUPS_PER_PROTECTED: usize = 2;
/// Error groups per page of a list with counts over time.
pub(in crate::areas::errors) const ERRORS_PAGE_WITH_SERIES_MAX: usize = 100;
/// The newest occurrences from which the tags of an error are known.
pub(in crate::areas::errors) const ERROR_TAGS_SAMPLED: usize = 100;
/// Tags of an error whose values are counted, by a query each.
pub(in crate::areas::errors) const ERROR_TAGS_COUNTED_MAX: usize = 40;
/// Values of a tag in a response if the request has no `limit`.
pub(in crate::areas::errors) const ERROR_TAG_VALUES_DEFAULT: usize = 10;
/// Values of a tag in a response.
pub(in crate::areas::errors) const ERROR_TAG_VALUES_MAX: usize = 1_000;
