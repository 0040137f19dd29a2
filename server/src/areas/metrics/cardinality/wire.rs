//! The JSON types of counts of series.

use schemars::JsonSchema;
use serde::Serialize;
use telltale_engine::{CardinalityPage, CardinalityRow};

use crate::http::{Meta, Paging};

/// A page of counts, the largest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Cardinality")]
pub(super) struct CardinalityView {
    data: Vec<RowView>,
    meta: CardinalityMeta,
}

/// The counts of a metric, a tag key or a tag value.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CardinalityRow")]
struct RowView {
    /// The name of the metric or of the tag key, or the tag value.
    name: String,
    /// The number of series that have it.
    series: u64,
    /// The number of distinct values: of the tag key, or of `key` in the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<u64>,
    /// The number of metrics that have it; 1 for a metric.
    metrics: u64,
}

/// The position of a page of counts, and their sum.
#[derive(Debug, Serialize, JsonSchema)]
struct CardinalityMeta {
    #[serde(flatten)]
    page: Meta,
    /// The sum of `series` over all pages. A series counts once for each of its tags if `by` is
    /// `tag`.
    series: u64,
}

impl CardinalityView {
    pub(super) fn new(page: CardinalityPage, paging: Paging) -> Self {
        let meta = CardinalityMeta { page: paging.meta(page.total), series: page.series };
        Self { data: page.rows.into_iter().map(RowView::from).collect(), meta }
    }
}

impl From<CardinalityRow> for RowView {
    fn from(CardinalityRow { name, series, values, metrics }: CardinalityRow) -> Self {
        Self { name, series, values, metrics }
    }
}
