//! The bodies of responses about occurrences and their counts.

use schemars::JsonSchema;
use serde::Serialize;
use telltale_engine::ResultMemory;

use super::super::model::{GroupId, OccurrenceId};
use super::super::occurrences::{
    BucketCounts, OccurrenceInOrder, TagCount, TagCounts, TagValueCounts,
};
use super::responses::EventView;
use crate::platform::time::IsoTime;

/// An occurrence and its neighbours.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorOccurrenceInOrder")]
pub(in crate::areas::errors) struct OccurrenceView {
    #[serde(flatten)]
    event: EventView,
    /// The id of the occurrence before it in time; null if it is the first one that is kept.
    previous_id: Option<String>,
    /// The id of the occurrence after it; null if it is the newest.
    next_id: Option<String>,
}

/// The values that the occurrences of an error have in their tags.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorTags")]
pub(in crate::areas::errors) struct TagsView {
    id: String,
    /// The occurrences in the range.
    occurrences: u64,
    /// The number of the newest occurrences from which the tags are known. Without `key`, tags that
    /// only earlier occurrences have are left out.
    sampled: usize,
    /// In the order of their keys.
    tags: Vec<TagView>,
    /// The number of tags that are left out because there are too many.
    tags_left_out: usize,
}

/// The values of a tag.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorTag")]
struct TagView {
    key: String,
    /// The parameter of the list of errors that selects by this tag: `environment`, `release` or
    /// `tags[key]`.
    parameter: String,
    /// The occurrences that have the tag; null if it has too many different values to count them.
    occurrences: Option<u64>,
    /// The number of different values; null if there are too many.
    distinct: Option<usize>,
    /// The most frequent values.
    values: Vec<TagValueView>,
    /// The memory of the values.
    #[serde(skip)]
    _memory: ResultMemory,
}

/// A value of a tag.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorTagValue")]
struct TagValueView {
    value: String,
    count: u64,
    /// The part of the occurrences with the tag that have this value, from 0 to 1.
    share: f64,
}

/// The occurrences of an error over time, for a small chart.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorSparkline")]
pub(in crate::areas::errors) struct SparklineView {
    /// The start of the first bucket.
    from: IsoTime,
    /// The width of the buckets.
    interval_seconds: i64,
    /// The occurrences in each bucket; the last one contains now.
    counts: Vec<u64>,
}

impl From<OccurrenceInOrder> for OccurrenceView {
    fn from(found: OccurrenceInOrder) -> Self {
        let id = |event| OccurrenceId(event).format();
        Self {
            previous_id: found.previous.map(id),
            next_id: found.next.map(id),
            event: found.event.into(),
        }
    }
}

impl TagsView {
    /// Builds the response.
    pub(in crate::areas::errors) fn new(id: GroupId, counts: TagCounts) -> Self {
        Self {
            id: id.format(),
            occurrences: counts.occurrences,
            sampled: counts.sampled,
            tags: counts.tags.into_iter().map(TagView::new).collect(),
            tags_left_out: counts.tags_left_out,
        }
    }
}

impl TagView {
    fn new(tag: TagCount) -> Self {
        let (key, parameter) = (tag.key().to_owned(), tag.parameter());
        let Some(TagValueCounts { occurrences, distinct, most, memory }) = tag.values else {
            let (values, _memory) = (Vec::new(), ResultMemory::default());
            return Self { key, parameter, occurrences: None, distinct: None, values, _memory };
        };
        let value = |(value, count): (String, u64)| TagValueView {
            value,
            count,
            share: count as f64 / occurrences as f64,
        };
        Self {
            key,
            parameter,
            occurrences: Some(occurrences),
            distinct: Some(distinct),
            values: most.into_iter().map(value).collect(),
            _memory: memory,
        }
    }
}

impl From<BucketCounts> for SparklineView {
    fn from(line: BucketCounts) -> Self {
        Self {
            from: IsoTime(line.from),
            interval_seconds: line.width.ms() / 1_000,
            counts: line.counts,
        }
    }
}
