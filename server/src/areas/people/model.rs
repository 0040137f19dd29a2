//! The preferences of a user.

use telltale_engine::TimestampMs;

/// The preferences of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Preferences {
    pub(super) user: String,
    /// A JSON object.
    pub(super) json: String,
    /// `None` if the user has stored none.
    pub(super) updated_at: Option<TimestampMs>,
    /// 0 if the user has stored none.
    pub(super) revision: u64,
}
