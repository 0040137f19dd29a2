//! The limits of the area, each with its unit and reason.

/// Groups that `top` may ask for: more than any chart can show.
pub(super) const TOP_GROUPS_MAX: usize = 10_000;
