//! The most frequent values of a field.
//!
//! Names, users and tags are counted by the engine, over all matching events. Where that would take
//! too many groups, and for properties, the newest matching events are read. What is counted is
//! charged to the memory account until the response is written.

use std::collections::HashMap;

use telltale_engine::{
    Error, EventAggregation, EventField, EventFilter, EventGroupBy, EventQuery, MemoryOwner,
    Refusal, ResultMemory, TextSearch,
};

use super::properties::{number, shown, value_at};
use super::sample::{SampleSize, read_newest};
use crate::app::App;
use crate::areas::events::error::EventsError;
use crate::areas::events::limits::{VALUE_CHARS_MAX, VALUES_EVENTS_MAX};

/// A question about the values of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValuesRequest {
    pub(super) field: ValuesField,
    pub(super) filter: EventFilter,
    pub(super) search: Option<TextSearch>,
    pub(super) limit: usize,
}

/// The field whose values are counted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValuesField {
    /// A name, user or tag.
    Text(EventGroupBy),
    /// The value, or a property.
    Other(EventField),
}

/// The most frequent values.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The most frequent first, equal ones by value.
    pub(super) counts: Vec<(String, u64)>,
    /// The number of distinct values that match.
    pub(super) total: usize,
    pub(super) size: SampleSize,
    /// The memory of the values.
    pub(super) memory: ResultMemory,
}

/// Returns the most frequent values.
pub(super) fn values(app: &App, request: &ValuesRequest) -> Result<Values, EventsError> {
    let counted = match &request.field {
        ValuesField::Text(by) => match count_all(app, &request.filter, by) {
            Err(EventsError::Engine(Error::Refused(Refusal::Range(_)))) => None,
            counted => Some(counted?),
        },
        ValuesField::Other(_) => None,
    };
    let Counted { counts, size, mut memory } = match counted {
        Some(counted) => counted,
        None => count_newest(app, request)?,
    };
    let is_wanted =
        |value: &str| request.search.as_ref().is_none_or(|search| search.matches(value));
    let mut counts: Vec<(String, u64)> =
        counts.into_iter().filter(|(value, _)| is_wanted(value)).collect();
    let total = counts.len();
    counts.sort_unstable_by(|(value_a, a), (value_b, b)| b.cmp(a).then(value_a.cmp(value_b)));
    counts.truncate(request.limit);
    memory.shrink_to(counts.iter().map(|(value, _)| bytes_of(value)).sum());
    Ok(Values { counts, total, size, memory })
}

/// Returns about how many bytes a value and its count take in a map.
fn bytes_of(value: &str) -> u64 {
    2 * (size_of::<(String, u64)>() + value.len()) as u64
}

/// All values, with their counts.
struct Counted {
    counts: Vec<(String, u64)>,
    size: SampleSize,
    memory: ResultMemory,
}

/// Counts the values in all matching events.
fn count_all(app: &App, filter: &EventFilter, by: &EventGroupBy) -> Result<Counted, EventsError> {
    let result = app.engine().query_events(&EventQuery {
        filter: filter.clone(),
        interval: None,
        group_by: vec![by.clone()],
        field: EventField::Value,
        distinct: None,
        aggregations: vec![EventAggregation::Count],
    })?;
    // Counts are integers.
    let count = |whole: &[Option<f64>]| whole.first().copied().flatten().unwrap_or(0.0) as u64;
    let events = count(&result.all.whole);
    let groups = result.groups.into_iter();
    let counts = groups.filter_map(|(key, group)| {
        let value = key.into_iter().next().filter(|value| !value.is_empty())?;
        Some((value, count(&group.whole)))
    });
    let size = SampleSize { read: events, matched: events };
    Ok(Counted { counts: counts.collect(), size, memory: result.memory })
}

/// Counts the values in the newest matching events.
fn count_newest(app: &App, request: &ValuesRequest) -> Result<Counted, EventsError> {
    let memory = app.engine().memory();
    let mut share = memory.share(MemoryOwner::Queries);
    let mut counts: HashMap<String, u64> = HashMap::new();
    let size = read_newest(app, &request.filter, VALUES_EVENTS_MAX, |event| {
        let value = match &request.field {
            ValuesField::Text(EventGroupBy::Name) => Some(event.name.clone()),
            ValuesField::Text(EventGroupBy::User) => event.user.clone(),
            ValuesField::Text(EventGroupBy::Tag(wanted)) => {
                let tag = event.tags.iter().find(|(key, _)| key == wanted);
                tag.map(|(_, value)| value.clone())
            }
            ValuesField::Other(EventField::Value) => event.value.map(number),
            ValuesField::Other(EventField::Property(path)) => {
                let properties = event.properties.as_deref();
                let value = properties.map(|text| value_at(text, path, memory)).transpose()?;
                value.flatten().filter(|value| !value.is_array()).as_ref().map(shown)
            }
        };
        let is_short = |value: &String| value.chars().nth(VALUE_CHARS_MAX).is_none();
        if let Some(value) = value.filter(|value| !value.is_empty()).filter(is_short) {
            if !counts.contains_key(&value) {
                share.grow(bytes_of(&value)).map_err(Error::from)?;
            }
            *counts.entry(value).or_default() += 1;
        }
        Ok(())
    })?;
    Ok(Counted { counts: counts.into_iter().collect(), size, memory: share.into() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use telltale_engine::{NameFilter, TimeRange};

    use super::*;
    use crate::areas::testing::TestServer;

    #[test]
    fn values_count_as_memory_until_the_response_is_written() {
        let house = TestServer::open();
        let event = |n: usize| {
            let value = format!("{n:0>300}");
            json!({"name": "visit", "tags": {"page": value}, "properties": {"page": value}})
        };
        let events: Vec<_> = (0..100).map(event).collect();
        house.post("/api/v1/events/batch", &json!({ "events": events })).data(200);
        for field in [
            ValuesField::Text(EventGroupBy::Tag("page".to_owned())),
            ValuesField::Other(EventField::Property(vec!["page".to_owned()])),
        ] {
            let (name, range) = (NameFilter::Any, TimeRange::new(0, i64::MAX));
            let filter = EventFilter { range, name, user: None, tags: Vec::new() };
            for (limit, held) in [(100, 30_000..100_000), (1, 300..1_000)] {
                let (field, filter) = (field.clone(), filter.clone());
                let request = ValuesRequest { field, filter, search: None, limit };
                let found = values(house.app(), &request).unwrap();
                assert_eq!((found.counts.len(), found.total), (limit, 100));
                assert!(held.contains(&found.memory.bytes()), "{}", found.memory.bytes());
                let of_queries = house.app().engine().memory().held_by(MemoryOwner::Queries);
                assert_eq!(of_queries, found.memory.bytes());
            }
        }
    }
}
