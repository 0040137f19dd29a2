//! The expected answers, computed naively from a plain list of events.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Event, EventAggregation, EventField, EventFilter, EventGroupBy, EventListQuery, EventQuery,
    EventSummary, NameFilter, TagCondition, TimestampMs,
};

fn tag<'a>(event: &'a Event, key: &str) -> Option<&'a str> {
    event.tags.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
}

fn text<'a>(event: &'a Event, of: &EventGroupBy) -> Option<&'a str> {
    match of {
        EventGroupBy::Name => Some(&event.name),
        EventGroupBy::User => event.user.as_deref(),
        EventGroupBy::Tag(key) => tag(event, key),
    }
}

pub(super) fn matches(event: &Event, filter: &EventFilter) -> bool {
    let name = match &filter.name {
        NameFilter::Any => true,
        NameFilter::Exactly(name) => event.name == *name,
        NameFilter::Prefix(prefix) => event.name.starts_with(prefix.as_str()),
        NameFilter::PrefixExcept { prefix, but } => {
            event.name.starts_with(prefix.as_str()) && !event.name.starts_with(but.as_str())
        }
    };
    let tags = filter.tags.iter().all(|filter| {
        let value = tag(event, &filter.key);
        match &filter.condition {
            TagCondition::AnyOf(any) => any.iter().any(|a| a == value.unwrap_or("")),
            TagCondition::NoneOf(none) => none.iter().all(|n| n != value.unwrap_or("")),
            TagCondition::Prefix(prefix) => value.is_some_and(|v| v.starts_with(prefix.as_str())),
        }
    });
    let user = filter.user.is_none() || filter.user == event.user;
    filter.range.contains(event.time) && name && tags && user
}

/// Returns the number of matches, and the page.
pub(super) fn list(events: &[Event], query: &EventListQuery) -> (u64, Vec<Event>) {
    let mut matching: Vec<&Event> = events.iter().filter(|e| matches(e, &query.filter)).collect();
    matching.sort_by_key(|event| std::cmp::Reverse((event.time, event.id)));
    let total = matching.len() as u64;
    let rest = matching.into_iter().filter(|e| query.after.is_none_or(|a| (e.time, e.id) < a));
    (total, rest.skip(query.offset as usize).take(query.limit).cloned().collect())
}

fn number(event: &Event, field: &EventField) -> Option<f64> {
    let EventField::Property(path) = field else { return event.value };
    let tree: serde_json::Value = serde_json::from_str(event.properties.as_deref()?).unwrap();
    let leaf = path.iter().try_fold(&tree, |at, key| at.as_object()?.get(key))?;
    leaf.as_f64()
}

fn evaluate(events: &[&Event], query: &EventQuery) -> Vec<Option<f64>> {
    let mut numbers: Vec<f64> = events.iter().filter_map(|e| number(e, &query.field)).collect();
    numbers.sort_by(f64::total_cmp);
    let rank = |percent: usize| numbers.get((numbers.len() * percent).div_ceil(100).max(1) - 1);
    let sum = || (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() + 0.0);
    let value = |aggregation: &EventAggregation| match aggregation {
        EventAggregation::Count => Some(events.len() as f64),
        EventAggregation::UniqueUsers => {
            let users: BTreeSet<&String> = events.iter().filter_map(|e| e.user.as_ref()).collect();
            Some(users.len() as f64)
        }
        EventAggregation::Distinct => {
            let of = query.distinct.as_ref();
            let strings = events.iter().filter_map(|event| text(event, of?));
            Some(strings.collect::<BTreeSet<_>>().len() as f64)
        }
        EventAggregation::Numbers => Some(numbers.len() as f64),
        EventAggregation::Sum => sum(),
        EventAggregation::Avg => sum().map(|sum| sum / numbers.len() as f64),
        EventAggregation::Min => numbers.first().copied(),
        EventAggregation::Max => numbers.last().copied(),
        EventAggregation::P50 => rank(50).copied(),
        EventAggregation::P95 => rank(95).copied(),
        EventAggregation::P99 => rank(99).copied(),
    };
    query.aggregations.iter().map(value).collect()
}

fn summary(events: &[&Event], query: &EventQuery) -> EventSummary {
    let mut summary = EventSummary { whole: evaluate(events, query), ..EventSummary::default() };
    let Some(interval) = query.interval else { return summary };
    let mut buckets: BTreeMap<TimestampMs, Vec<&Event>> = BTreeMap::new();
    for event in events {
        buckets.entry(event.time.floor_to(interval)).or_default().push(event);
    }
    summary.columns.resize_with(query.aggregations.len(), Vec::new);
    for (start, events) in buckets {
        summary.starts.push(start);
        for (column, value) in summary.columns.iter_mut().zip(evaluate(&events, query)) {
            column.push(value);
        }
    }
    summary
}

/// Returns the summary of all matches, and those of the groups.
pub(super) fn aggregate(
    events: &[Event],
    query: &EventQuery,
) -> (EventSummary, Vec<(Vec<String>, EventSummary)>) {
    let matching: Vec<&Event> = events.iter().filter(|e| matches(e, &query.filter)).collect();
    let mut groups: BTreeMap<Vec<String>, Vec<&Event>> = BTreeMap::new();
    if !query.group_by.is_empty() {
        for event in &matching {
            let strings = query.group_by.iter().map(|by| text(event, by).unwrap_or_default());
            groups.entry(strings.map(str::to_owned).collect()).or_default().push(event);
        }
    }
    let groups = groups.into_iter().map(|(key, events)| (key, summary(&events, query)));
    (summary(&matching, query), groups.collect())
}
