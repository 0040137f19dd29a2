//! The query parameters that lists of the area have in common.

use super::ids::{PAGE_ID, PageId};
use crate::http::{ApiResult, Form, Param, Query};

/// The maximum number of items.
pub(super) const LIMIT: Param = Param::query(
    "limit",
    "Maximum number of items to return. Default 50; a value over 1000 is reduced to 1000.",
)
.form(Form::Integer(1));

/// The page.
pub(super) const PAGE: Param =
    Param::query("page_id", "Only those of the page with this id.").form(Form::Pattern(PAGE_ID));

/// Returns the value of [`PAGE`].
pub(super) fn page_parameter(query: &Query) -> ApiResult<Option<PageId>> {
    query.parsed("page_id", || "must be the id of a page", PageId::parse)
}
