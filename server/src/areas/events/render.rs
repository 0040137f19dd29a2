//! Writes lists and counts as JSON, directly from the engine's results.
//!
//! A list: `{"data":[event…],"meta":{"total","limit","offset"}}`, with `next_cursor` in `meta` if
//! more events follow. A count: `{"data":{"total","series":[{"timestamp","count"}]}}`. With groups,
//! `groups` contains the count of each group, and `series`, if an interval is given, a list for
//! each. Counts of distinct values are added as `distinct` and `distinct_groups`.

use telltale_engine::{
    Error, Event, EventPage, EventQuery, EventQueryResult, EventSummary, Memory, MemoryFull,
};

use super::model::{Cursor, ID_PREFIX, ListRequest};
use crate::http::ApiResult;
use crate::limits;
use crate::platform::json::ChargedJson;
use crate::platform::telemetry::query_params::{InvalidQueryParams, label};
use crate::platform::{ids, json, time};

/// Approximate bytes of an event without its properties and tags, for reserving memory.
const EVENT_BYTES: usize = 200;
/// Approximate bytes of a point of a series.
const POINT_BYTES: usize = 56;
/// Approximate bytes of a group in an object, in addition to its key.
const GROUP_BYTES: usize = 16;

/// Writes a page of events.
pub(super) fn list(
    request: &ListRequest,
    page: &EventPage,
    memory: &Memory,
) -> Result<ChargedJson, MemoryFull> {
    let shown = page.events.get(..request.limit).unwrap_or(&page.events);
    let mut text = ChargedJson::new(memory);
    let expected = 256 + event_bytes(shown);
    text.write(expected, |out| write_list(out, request, page, shown))?;
    Ok(text)
}

/// Returns the approximate bytes of events.
pub(super) fn event_bytes(events: &[Event]) -> usize {
    let properties = events.iter().filter_map(|event| event.properties.as_ref().map(String::len));
    events.len() * EVENT_BYTES + properties.sum::<usize>()
}

fn write_list(out: &mut Vec<u8>, request: &ListRequest, page: &EventPage, shown: &[Event]) {
    out.extend_from_slice(br#"{"data":"#);
    write_events(out, shown);
    out.extend_from_slice(br#","meta":{"total":"#);
    json::unsigned(out, page.total);
    out.extend_from_slice(br#","limit":"#);
    json::unsigned(out, request.limit as u64);
    out.extend_from_slice(br#","offset":"#);
    json::unsigned(out, request.query.offset);
    if let Some(last) = shown.last().filter(|_| page.events.len() > shown.len()) {
        out.extend_from_slice(br#","next_cursor":"#);
        json::string(out, &Cursor { time: last.time, id: last.id }.encoded());
    }
    out.extend_from_slice(b"}}");
}

/// Writes an array of events.
pub(super) fn write_events(out: &mut Vec<u8>, events: &[Event]) {
    out.push(b'[');
    for (i, event) in events.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_event(out, event);
    }
    out.push(b']');
}

fn write_event(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(br#"{"id":""#);
    out.extend_from_slice(ID_PREFIX.as_bytes());
    ids::with_ulid_text(event.id.0, |text| out.extend_from_slice(text.as_bytes()));
    out.extend_from_slice(br#"","name":"#);
    json::string(out, &event.name);
    out.extend_from_slice(br#","timestamp":""#);
    time::write(out, event.time);
    out.extend_from_slice(br#"","user_id":"#);
    match &event.user {
        Some(user) => json::string(out, user),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(br#","value":"#);
    match event.value {
        Some(value) => json::number(out, value),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(br#","properties":"#);
    // Properties are stored as a JSON object in canonical form and are copied unchanged.
    out.extend_from_slice(event.properties.as_deref().unwrap_or("{}").as_bytes());
    out.extend_from_slice(br#","tags":{"#);
    for (i, (key, value)) in event.tags.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        json::string(out, key);
        out.push(b':');
        json::string(out, value);
    }
    out.extend_from_slice(b"}}");
}

/// Writes the response to a count.
pub(super) fn count(
    query: &EventQuery,
    result: &EventQueryResult,
    memory: &Memory,
) -> ApiResult<ChargedJson> {
    let points: usize = result.groups.iter().map(|(_, group)| 1 + group.starts.len()).sum();
    let points = points.max(result.all.starts.len());
    if points as u64 > limits::RESPONSE_POINTS_MAX {
        return Err(InvalidQueryParams::TooManyPoints(points as u64).into());
    }
    // Each object of groups repeats the keys.
    let objects =
        (1 + usize::from(query.distinct.is_some())) + usize::from(query.interval.is_some());
    let keys: usize = result.groups.iter().map(|(key, _)| label_bytes(key) + GROUP_BYTES).sum();
    let mut text = ChargedJson::new(memory);
    let expected = 128 + points * POINT_BYTES + objects * keys;
    text.write(expected, |out| write_count(out, query, result)).map_err(Error::from)?;
    Ok(text)
}

/// Returns the bytes of a group's label: its values and separators.
fn label_bytes(key: &[String]) -> usize {
    key.iter().map(|text| text.len() + 1).sum()
}

fn write_count(out: &mut Vec<u8>, query: &EventQuery, result: &EventQueryResult) {
    let grouped = !query.group_by.is_empty();
    out.extend_from_slice(br#"{"data":{"total":"#);
    write_number(out, result.all.whole.first());
    if query.distinct.is_some() {
        out.extend_from_slice(br#","distinct":"#);
        write_number(out, result.all.whole.get(1));
    }
    if grouped {
        out.extend_from_slice(br#","groups":"#);
        write_groups(out, result, |out, group| write_number(out, group.whole.first()));
        if query.distinct.is_some() {
            out.extend_from_slice(br#","distinct_groups":"#);
            write_groups(out, result, |out, group| write_number(out, group.whole.get(1)));
        }
    }
    if query.interval.is_some() {
        out.extend_from_slice(br#","series":"#);
        if grouped {
            write_groups(out, result, write_series);
        } else {
            write_series(out, &result.all);
        }
    }
    out.extend_from_slice(b"}}");
}

/// Writes an object with one member per group.
fn write_groups(
    out: &mut Vec<u8>,
    result: &EventQueryResult,
    write: fn(&mut Vec<u8>, &EventSummary),
) {
    out.push(b'{');
    for (i, (key, group)) in result.groups.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        json::string(out, &label(key));
        out.push(b':');
        write(out, group);
    }
    out.push(b'}');
}

fn write_series(out: &mut Vec<u8>, summary: &EventSummary) {
    let Some(counts) = summary.columns.first() else {
        unreachable!("a query with buckets has a column of counts")
    };
    let distinct = summary.columns.get(1);
    out.push(b'[');
    for (i, (start, count)) in summary.starts.iter().zip(counts).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(br#"{"timestamp":""#);
        time::write(out, *start);
        out.extend_from_slice(br#"","count":"#);
        write_number(out, Some(count));
        if let Some(distinct) = distinct {
            out.extend_from_slice(br#","distinct":"#);
            write_number(out, distinct.get(i));
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// Writes a count.
fn write_number(out: &mut Vec<u8>, count: Option<&Option<f64>>) {
    match count {
        Some(Some(count)) => json::number(out, *count),
        other => unreachable!("a count was queried, but the result is {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{
        EventAggregation, EventField, EventFilter, EventGroupBy, EventId, EventListQuery,
        EventQueryStats, Interval, NameFilter, ResultMemory, TimeRange, TimestampMs,
    };

    use super::*;

    fn text_of(text: ChargedJson) -> String {
        String::from_utf8(text.into_parts().0).unwrap()
    }

    fn filter() -> EventFilter {
        let range = TimeRange::new(0, 1);
        EventFilter { range, name: NameFilter::Any, user: None, tags: Vec::new() }
    }

    fn event(number: u64) -> Event {
        Event {
            id: EventId::new(TimestampMs(0), number),
            name: "a".to_owned(),
            time: TimestampMs(number as i64),
            user: None,
            value: None,
            tags: Vec::new(),
            properties: None,
        }
    }

    #[track_caller]
    fn check_list(limit: usize, events: Vec<Event>, expected: &str) {
        let query = EventListQuery { filter: filter(), after: None, offset: 4, limit: limit + 1 };
        let page = EventPage {
            total: 9,
            events,
            stats: EventQueryStats::default(),
            memory: ResultMemory::default(),
        };
        let text =
            text_of(list(&ListRequest { query, limit }, &page, &Memory::unlimited()).unwrap());
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        assert_eq!(text, expected);
    }

    #[test]
    fn events_are_written_with_all_their_fields() {
        let full = Event {
            name: "order \"paid\"".to_owned(),
            user: Some("u\n1".to_owned()),
            value: Some(2.5),
            tags: vec![("a".to_owned(), "\\".to_owned()), ("b".to_owned(), String::new())],
            properties: Some(r#"{"cart":{"total":3.0}}"#.to_owned()),
            ..event(1)
        };
        check_list(
            5,
            vec![full, event(0)],
            concat!(
                r#"{"data":[{"id":"evt_00000000000000000000000001","name":"order \"paid\"","timestamp":"1970-01-01T00:00:00.001Z","#,
                r#""user_id":"u\n1","value":2.5,"properties":{"cart":{"total":3.0}},"tags":{"a":"\\","b":""}},"#,
                r#"{"id":"evt_00000000000000000000000000","name":"a","timestamp":"1970-01-01T00:00:00.000Z","#,
                r#""user_id":null,"value":null,"properties":{},"tags":{}}],"meta":{"total":9,"limit":5,"offset":4}}"#,
            ),
        );
        check_list(1, Vec::new(), r#"{"data":[],"meta":{"total":9,"limit":1,"offset":4}}"#);
    }

    #[test]
    fn a_page_that_is_not_the_last_has_a_cursor_to_the_next() {
        let query = EventListQuery { filter: filter(), after: None, offset: 0, limit: 2 };
        let events = vec![event(17), event(16)];
        let page = EventPage {
            total: 2,
            events,
            stats: EventQueryStats::default(),
            memory: ResultMemory::default(),
        };
        let text = list(&ListRequest { query, limit: 1 }, &page, &Memory::unlimited());
        let text = text_of(text.unwrap());
        let result: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(result["data"].as_array().map(Vec::len), Some(1));
        let cursor = result["meta"]["next_cursor"].as_str().and_then(Cursor::parse);
        assert_eq!(cursor, Some(Cursor { time: TimestampMs(17), id: event(17).id }));
    }

    fn summary(counts: &[(i64, f64)]) -> EventSummary {
        EventSummary {
            whole: vec![Some(counts.iter().map(|(_, count)| count).sum())],
            starts: counts.iter().map(|(start, _)| TimestampMs(*start)).collect(),
            columns: vec![counts.iter().map(|(_, count)| Some(*count)).collect()],
        }
    }

    #[track_caller]
    fn check_count(interval: bool, groups: Option<Vec<(&str, EventSummary)>>, expected: &str) {
        let query = EventQuery {
            filter: filter(),
            interval: interval.then_some(Interval::MINUTE),
            group_by: groups.as_ref().map(|_| EventGroupBy::Name).into_iter().collect(),
            field: EventField::Value,
            distinct: None,
            aggregations: vec![EventAggregation::Count],
        };
        let groups = groups
            .unwrap_or_default()
            .into_iter()
            .map(|(key, group)| (vec![key.to_owned()], group));
        let result = EventQueryResult {
            all: summary(&[(0, 2.0), (60_000, 1.0)]),
            groups: groups.collect(),
            stats: EventQueryStats::default(),
            memory: ResultMemory::default(),
        };
        let text = text_of(count(&query, &result, &Memory::unlimited()).unwrap());
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        assert_eq!(text.replace("\"1970-01-01T00:0", "").replace(":00.000Z\"", "'"), expected);
    }

    #[test]
    fn counts_have_a_series_groups_or_a_series_per_group() {
        check_count(
            true,
            None,
            r#"{"data":{"total":3,"series":[{"timestamp":0',"count":2},{"timestamp":1',"count":1}]}}"#,
        );
        let groups = || vec![("", summary(&[(60_000, 1.0)])), ("\"b\"", summary(&[(0, 2.0)]))];
        check_count(false, Some(groups()), r#"{"data":{"total":3,"groups":{"":1,"\"b\"":2}}}"#);
        check_count(
            true,
            Some(groups()),
            r#"{"data":{"total":3,"groups":{"":1,"\"b\"":2},"series":{"":[{"timestamp":1',"count":1}],"\"b\"":[{"timestamp":0',"count":2}]}}}"#,
        );
        check_count(true, Some(Vec::new()), r#"{"data":{"total":3,"groups":{},"series":{}}}"#);
    }

    #[test]
    fn a_count_of_no_events_is_zero() {
        let query = EventQuery {
            filter: filter(),
            interval: Some(Interval::MINUTE),
            group_by: Vec::new(),
            field: EventField::Value,
            distinct: None,
            aggregations: vec![EventAggregation::Count],
        };
        let all =
            EventSummary { whole: vec![Some(0.0)], starts: Vec::new(), columns: vec![Vec::new()] };
        let (stats, memory) = (EventQueryStats::default(), ResultMemory::default());
        let result = EventQueryResult { all, groups: Vec::new(), stats, memory };
        let text = text_of(count(&query, &result, &Memory::unlimited()).unwrap());
        assert_eq!(text, r#"{"data":{"total":0,"series":[]}}"#);
    }
}
