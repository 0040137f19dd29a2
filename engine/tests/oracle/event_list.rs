//! A plain list of events, and query results computed by scanning it.

use std::collections::{BTreeMap, BTreeSet};

use telltale_engine::{
    Event, EventAggregation, EventField, EventFilter, EventGroupBy, EventListQuery, EventQuery,
    EventSummary, NameFilter, TagCondition, TimestampMs,
};

/// An event with its properties parsed.
#[derive(Debug)]
pub(crate) struct ListedEvent {
    pub(crate) event: Event,
    tree: serde_json::Value,
}

impl ListedEvent {
    pub(crate) fn new(event: Event) -> Self {
        let tree = event.properties.as_deref().map(|text| serde_json::from_str(text).unwrap());
        Self { event, tree: tree.unwrap_or_default() }
    }

    fn tag(&self, key: &str) -> Option<&str> {
        self.event.tags.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    fn number(&self, field: &EventField) -> Option<f64> {
        let EventField::Property(path) = field else { return self.event.value };
        path.iter().try_fold(&self.tree, |at, key| at.as_object()?.get(key))?.as_f64()
    }

    fn text(&self, of: &EventGroupBy) -> Option<&str> {
        match of {
            EventGroupBy::Name => Some(&self.event.name),
            EventGroupBy::User => self.event.user.as_deref(),
            EventGroupBy::Tag(key) => self.tag(key),
        }
    }

    pub(crate) fn matches(&self, filter: &EventFilter) -> bool {
        let name = match &filter.name {
            NameFilter::Any => true,
            NameFilter::Exactly(name) => self.event.name == *name,
            NameFilter::Prefix(prefix) => self.event.name.starts_with(prefix.as_str()),
            NameFilter::PrefixExcept { prefix, but } => {
                let name = &self.event.name;
                name.starts_with(prefix.as_str()) && !name.starts_with(but.as_str())
            }
        };
        let tags = filter.tags.iter().all(|filter| {
            let value = self.tag(&filter.key);
            match &filter.condition {
                TagCondition::AnyOf(any) => any.iter().any(|a| a == value.unwrap_or("")),
                TagCondition::NoneOf(none) => none.iter().all(|n| n != value.unwrap_or("")),
                TagCondition::Prefix(prefix) => {
                    value.is_some_and(|v| v.starts_with(prefix.as_str()))
                }
            }
        });
        let user = filter.user.is_none() || filter.user == self.event.user;
        filter.range.contains(self.event.time) && name && tags && user
    }
}

fn matching<'a>(events: &'a [ListedEvent], filter: &EventFilter) -> Vec<&'a ListedEvent> {
    events.iter().filter(|event| event.matches(filter)).collect()
}

/// Returns the number of matches, and the page.
pub(crate) fn page(events: &[ListedEvent], query: &EventListQuery) -> (u64, Vec<Event>) {
    let mut matching = matching(events, &query.filter);
    matching.sort_by_key(|listed| std::cmp::Reverse((listed.event.time, listed.event.id)));
    let total = matching.len() as u64;
    let follows = |event: &Event| query.after.is_none_or(|after| (event.time, event.id) < after);
    let rest = matching.into_iter().map(|listed| &listed.event).filter(|event| follows(event));
    (total, rest.skip(query.offset as usize).take(query.limit).cloned().collect())
}

/// Returns the summary of all matches, and those of the groups.
pub(crate) fn answer(
    events: &[ListedEvent],
    query: &EventQuery,
) -> (EventSummary, Vec<(Vec<String>, EventSummary)>) {
    let matching = matching(events, &query.filter);
    let mut groups: BTreeMap<Vec<String>, Vec<&ListedEvent>> = BTreeMap::new();
    if !query.group_by.is_empty() {
        for event in &matching {
            let texts = query.group_by.iter().map(|by| event.text(by).unwrap_or_default());
            groups.entry(texts.map(str::to_owned).collect()).or_default().push(event);
        }
    }
    let groups = groups.into_iter().map(|(key, events)| (key, summary(&events, query)));
    (summary(&matching, query), groups.collect())
}

fn summary(events: &[&ListedEvent], query: &EventQuery) -> EventSummary {
    let mut summary = EventSummary { whole: evaluate(events, query), ..EventSummary::default() };
    let Some(interval) = query.interval else { return summary };
    let mut buckets: BTreeMap<TimestampMs, Vec<&ListedEvent>> = BTreeMap::new();
    for listed in events {
        buckets.entry(listed.event.time.floor_to(interval)).or_default().push(listed);
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

/// Evaluates each aggregation. The numbers of the histories are quarters, so plain sums are exact.
fn evaluate(events: &[&ListedEvent], query: &EventQuery) -> Vec<Option<f64>> {
    let mut numbers: Vec<f64> = events.iter().filter_map(|e| e.number(&query.field)).collect();
    numbers.sort_by(f64::total_cmp);
    let rank = |percent: usize| numbers.get((numbers.len() * percent).div_ceil(100).max(1) - 1);
    let sum = || (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() + 0.0);
    let users = || events.iter().filter_map(|listed| listed.event.user.as_deref());
    let value = |aggregation: &EventAggregation| match aggregation {
        EventAggregation::Count => Some(events.len() as f64),
        EventAggregation::UniqueUsers => Some(users().collect::<BTreeSet<_>>().len() as f64),
        EventAggregation::Distinct => {
            let of = query.distinct.as_ref();
            let texts = events.iter().filter_map(|listed| listed.text(of?));
            Some(texts.collect::<BTreeSet<_>>().len() as f64)
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
