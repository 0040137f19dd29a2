//! Queries of the occurrences of groups: one with its neighbours, counts by tag, and counts by time
//! of many groups at once. All of them block.

use std::collections::{BTreeSet, HashMap};

use telltale_engine::{
    Error, Event, EventAggregation, EventField, EventFilter, EventGroupBy, EventId, EventListQuery,
    EventPage, EventQuery, EventQueryResult, Interval, Refusal, ResultMemory, TimeRange,
    TimestampMs,
};

use super::error::ErrorsError;
use super::ledger::{GROUP_TAG, GroupView, OWN_TAG_PREFIX, events_of};
use super::model::{GroupId, OccurrenceId};
use super::ops;
use crate::app::App;
use crate::areas::errors::limits as own_limits;
use crate::limits;

/// How long before and after its receipt an occurrence is looked for first: clocks are mostly right
/// and occurrences mostly sent at once.
const NEAR_MS: i64 = 60 * 60 * 1_000;
/// How often the next occurrence is looked for while others arrive.
const NEXT_ATTEMPTS: usize = 3;

/// An occurrence between its neighbours.
#[derive(Debug)]
pub(super) struct OccurrenceInOrder {
    pub(super) event: Event,
    /// The one before it in time.
    pub(super) previous: Option<EventId>,
    /// The one after it.
    pub(super) next: Option<EventId>,
}

/// The values that the occurrences of a group have in their tags.
#[derive(Debug)]
pub(super) struct TagCounts {
    /// All occurrences in the range.
    pub(super) occurrences: u64,
    /// The number of the newest occurrences whose tags are counted.
    pub(super) sampled: usize,
    pub(super) tags: Vec<TagCount>,
    /// The number of tags beyond the maximum.
    pub(super) tags_left_out: usize,
}

/// How often each value of a tag occurs.
#[derive(Debug)]
pub(super) struct TagCount {
    /// The key in the tags of events.
    key: String,
    /// `None` if there are too many values to be counted.
    pub(super) values: Option<TagValueCounts>,
}

/// The most frequent values of a tag.
#[derive(Debug)]
pub(super) struct TagValueCounts {
    /// The occurrences with the tag.
    pub(super) occurrences: u64,
    /// The number of all values.
    pub(super) distinct: usize,
    /// The most frequent values with their counts, the most frequent first.
    pub(super) most: Vec<(String, u64)>,
    /// Their memory.
    pub(super) memory: ResultMemory,
}

/// The buckets of the counts in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sparkline {
    name: &'static str,
    pub(super) width: Interval,
    buckets: i64,
}

/// The counts of one group.
#[derive(Clone, Debug)]
pub(super) struct BucketCounts {
    /// The start of the first bucket.
    pub(super) from: TimestampMs,
    pub(super) width: Interval,
    pub(super) counts: Vec<u64>,
}

impl TagCount {
    /// Returns the key as it was sent.
    pub(super) fn key(&self) -> &str {
        self.key.strip_prefix(OWN_TAG_PREFIX).unwrap_or(&self.key)
    }

    /// Returns the parameter of lists that filters by this tag.
    pub(super) fn parameter(&self) -> String {
        match self.key.strip_prefix(OWN_TAG_PREFIX) {
            Some(key) => format!("tags[{key}]"),
            None => self.key.clone(),
        }
    }
}

impl Sparkline {
    /// The names of all of them.
    pub(super) const NAMES: [&'static str; 5] = ["1h", "24h", "7d", "14d", "30d"];

    /// Returns the one that covers this duration.
    pub(super) fn parse(text: &str) -> Option<Self> {
        const MINUTE: i64 = 60_000;
        const HOUR: i64 = 60 * MINUTE;
        let name = Self::NAMES.into_iter().find(|name| *name == text)?;
        let (width_ms, buckets) = match name {
            "1h" => (5 * MINUTE, 12),
            "24h" => (HOUR, 24),
            "7d" => (6 * HOUR, 28),
            "14d" => (12 * HOUR, 28),
            _ => (24 * HOUR, 30),
        };
        Some(Self { name, width: Interval::from_ms(width_ms)?, buckets })
    }

    /// Returns the range of its buckets, the last of which contains `now`.
    fn range(self, now: TimestampMs) -> TimeRange {
        let width_ms = self.width.ms();
        let end = (now.0.div_euclid(width_ms) + 1) * width_ms;
        TimeRange::new((end - self.buckets * width_ms).max(0), end)
    }
}

/// Returns an occurrence of a group, with its neighbours.
pub(super) fn in_order(
    app: &App,
    id: GroupId,
    occurrence: OccurrenceId,
) -> Result<OccurrenceInOrder, ErrorsError> {
    let groups = ops::get(app, id)?.event_groups();
    let event = find(app, &groups, occurrence)?;
    let before = list(app, &groups, (0, event.time.0.saturating_add(1)), |query| {
        query.after = Some((event.time, event.id));
        query.limit = 1;
    })?;
    let previous = before.events.first().map(|event| event.id);
    let next = next(app, &groups, &event)?;
    Ok(OccurrenceInOrder { event, previous, next })
}

fn find(app: &App, groups: &[String], occurrence: OccurrenceId) -> Result<Event, ErrorsError> {
    let OccurrenceId(id) = occurrence;
    let received = id.received().0;
    // With the margin by which a clock may have been set while the occurrence was stored.
    let end = received.saturating_add(limits::ERROR_AHEAD_MS_MAX + NEAR_MS);
    for age_ms in [NEAR_MS, limits::ERROR_AGE_MS_MAX + NEAR_MS] {
        let range = TimeRange::new(received.saturating_sub(age_ms), end);
        if let Some(event) = app.engine().find_event(&events_of(groups.to_vec(), range), id)? {
            return Ok(event);
        }
    }
    Err(ErrorsError::OccurrenceNotFound(occurrence.format()))
}

/// Returns the first occurrence after another one. Lists are descending, so it is found as one of
/// the last ones of a list that ends with the other one; occurrences of the same millisecond are
/// between them.
fn next(app: &App, groups: &[String], event: &Event) -> Result<Option<EventId>, ErrorsError> {
    let time = event.time.0;
    let same = list(app, groups, (time, time.saturating_add(1)), |query| query.limit = 0)?.total;
    let wanted = same.saturating_add(1).min(limits::PAGE_LIMIT_MAX as u64);
    for _ in 0..NEXT_ATTEMPTS {
        let total = list(app, groups, (time, i64::MAX), |query| query.limit = 0)?.total;
        let last = list(app, groups, (time, i64::MAX), |query| {
            query.offset = total.saturating_sub(wanted);
            // The list ends with the wanted ones, unless occurrences arrived since they were
            // counted: those move the wanted ones back.
            query.limit = limits::PAGE_LIMIT_MAX;
        })?;
        // Absent if more arrived than fit.
        if let Some(at) = last.events.iter().position(|other| other.id == event.id) {
            return Ok(at.checked_sub(1).and_then(|at| last.events.get(at)).map(|next| next.id));
        }
    }
    Ok(None)
}

fn list(
    app: &App,
    groups: &[String],
    (from, to): (i64, i64),
    adjust: impl FnOnce(&mut EventListQuery),
) -> Result<EventPage, ErrorsError> {
    let filter = events_of(groups.to_vec(), TimeRange::new(from, to));
    let mut query = EventListQuery { filter, after: None, offset: 0, limit: 0 };
    adjust(&mut query);
    Ok(app.engine().list_events(&query)?)
}

/// Counts the values of the tags of a group's occurrences: of one tag, if any of them has it, or of
/// all that the newest occurrences have. Returns the `limit` most frequent ones of each.
pub(super) fn tag_counts(
    app: &App,
    id: GroupId,
    range: TimeRange,
    only: Option<&str>,
    limit: usize,
) -> Result<TagCounts, ErrorsError> {
    let groups = ops::get(app, id)?.event_groups();
    let newest = list(app, &groups, (range.start.0, range.end.0), |query| {
        query.limit = own_limits::ERROR_TAGS_SAMPLED;
    })?;
    let mut keys: Vec<String> = match only {
        Some(key) => vec![key.to_owned()],
        None => {
            let tags = newest.events.iter().flat_map(|event| &event.tags);
            let keys: BTreeSet<&String> = tags.map(|(key, _)| key).collect();
            keys.into_iter().filter(|key| is_shown(key)).cloned().collect()
        }
    };
    let tags_left_out = keys.len().saturating_sub(own_limits::ERROR_TAGS_COUNTED_MAX);
    keys.truncate(own_limits::ERROR_TAGS_COUNTED_MAX);
    let mut tags = Vec::new();
    for key in keys {
        tags.push(count_values(app, events_of(groups.clone(), range), key, limit)?);
    }
    tags.retain(|tag| tag.values.as_ref().is_none_or(|values| values.distinct > 0));
    Ok(TagCounts { occurrences: newest.total, sampled: newest.events.len(), tags, tags_left_out })
}

/// Returns the key in the tags of events of a tag that a client names as in lists: `environment`,
/// `release` or the key of a tag that was sent.
pub(super) fn event_key(parameter: &str) -> String {
    let own = parameter.strip_prefix("tags[").and_then(|rest| rest.strip_suffix(']'));
    match own {
        Some(key) => format!("{OWN_TAG_PREFIX}{key}"),
        None if is_shown(parameter) => parameter.to_owned(),
        None => format!("{OWN_TAG_PREFIX}{parameter}"),
    }
}

/// Returns whether a tag of events was sent with the occurrence.
fn is_shown(key: &str) -> bool {
    matches!(key, "environment" | "release") || key.starts_with(OWN_TAG_PREFIX)
}

fn count_values(
    app: &App,
    filter: EventFilter,
    key: String,
    limit: usize,
) -> Result<TagCount, ErrorsError> {
    let group_by = EventGroupBy::Tag(key.clone());
    let answer = match count(app, filter, None, group_by) {
        Ok(answer) => answer,
        // The only refusal that is left: the range is not empty.
        Err(Error::Refused(Refusal::Range(_))) => return Ok(TagCount { key, values: None }),
        Err(error) => return Err(error.into()),
    };
    let mut most = Vec::new();
    for (mut value, summary) in answer.groups {
        // Occurrences without the tag are in the group of the empty string.
        let value = value.pop().filter(|value| !value.is_empty());
        most.extend(value.map(|value| (value, whole(summary.whole.first()))));
    }
    most.sort_by(|(a, few), (b, many)| many.cmp(few).then_with(|| a.cmp(b)));
    let (occurrences, distinct) = (most.iter().map(|(_, count)| count).sum(), most.len());
    most.truncate(limit);
    most.shrink_to_fit();
    let bytes = |(value, _): &(String, u64)| size_of::<(String, u64)>() + value.len();
    let mut memory = answer.memory;
    memory.shrink_to(most.iter().map(bytes).sum::<usize>() as u64);
    Ok(TagCount { key, values: Some(TagValueCounts { occurrences, distinct, most, memory }) })
}

/// Counts the occurrences of groups by time, in the order of the groups.
pub(super) fn sparklines(
    app: &App,
    groups: &[GroupView],
    sparkline: Sparkline,
) -> Result<Vec<BucketCounts>, ErrorsError> {
    let range = sparkline.range(app.now());
    let buckets = usize::try_from(sparkline.buckets).unwrap_or(0);
    let mut lines: Vec<BucketCounts> = groups
        .iter()
        .map(|_| BucketCounts {
            from: range.start,
            width: sparkline.width,
            counts: vec![0; buckets],
        })
        .collect();
    let mut owners: HashMap<String, usize> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        owners.extend(group.event_groups().into_iter().map(|name| (name, at)));
    }
    let mut names: Vec<String> = owners.keys().cloned().collect();
    names.sort_unstable();
    for chunk in names.chunks(limits::ERROR_GROUPS_PER_QUERY) {
        let filter = events_of(chunk.to_vec(), range);
        let group_by = EventGroupBy::Tag(GROUP_TAG.to_owned());
        let answer = count(app, filter, Some(sparkline.width), group_by)?;
        for (name, summary) in &answer.groups {
            let owner = name.first().and_then(|name| owners.get(name));
            let Some(line) = owner.and_then(|at| lines.get_mut(*at)) else { continue };
            let Some(counts) = summary.columns.first() else { continue };
            for (start, number) in summary.starts.iter().zip(counts) {
                let bucket = (start.0 - range.start.0).div_euclid(sparkline.width.ms());
                let bucket = usize::try_from(bucket).ok().and_then(|at| line.counts.get_mut(at));
                bucket.into_iter().for_each(|bucket| *bucket += whole(Some(number)));
            }
        }
    }
    Ok(lines)
}

fn count(
    app: &App,
    filter: EventFilter,
    interval: Option<Interval>,
    group_by: EventGroupBy,
) -> telltale_engine::Result<EventQueryResult> {
    app.engine().query_events(&EventQuery {
        filter,
        interval,
        group_by: vec![group_by],
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count],
    })
}

/// Returns a count, which is an integer.
fn whole(count: Option<&Option<f64>>) -> u64 {
    count.copied().flatten().map_or(0, |count| count as u64)
}
