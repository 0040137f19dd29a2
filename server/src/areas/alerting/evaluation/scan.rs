//! Combines rules into as few queries as possible.
//!
//! Rules with the same query and window share it, whatever their conditions. Of rules that differ
//! only in the values of tags that they select, [`SHARED_MIN`] or more share one query that is
//! grouped by these tags too: the data is read once, and each rule takes its groups.

use std::collections::HashMap;
use std::sync::Arc;

use telltale_engine::{MetricType, TagCondition, TagFilter};

use crate::areas::alerting::rules::{Rule, RuleQuery, RuleSettings};
use crate::areas::saved_queries::{InvalidQuery, QueryPlan, SavedQuery};

/// Rules from which on a query that is grouped by their filters is cheaper than one for each.
const SHARED_MIN: usize = 4;
/// Grouping keys of a query.
const GROUP_KEYS_MAX: usize = 4;

/// A query for one or more rules.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) plan: QueryPlan,
    pub(super) window_ms: i64,
    pub(super) members: Vec<ScanMember>,
    /// The same rules with a query each, in case that the shared one has too many groups.
    pub(super) apart: Vec<Scan>,
}

/// A rule, and which groups of the scan are its own.
#[derive(Clone, Debug)]
pub(super) struct ScanMember {
    pub(super) rule: Arc<Rule>,
    /// The keys of the scan that have to have a value, by position.
    pub(super) selected: Vec<(usize, String)>,
    /// The names of the rule's grouping keys.
    pub(super) names: Vec<String>,
    /// The positions of the rule's grouping keys among those of the scan.
    pub(super) keys: Vec<usize>,
}

/// What queries have in common that share their results, or would without their filters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ScanKey<'a> {
    source: (Option<&'a str>, Option<&'a str>),
    aggregation: Option<&'a str>,
    field: Option<&'a str>,
    grouping: Option<&'a str>,
    window_ms: i64,
    is_absent: bool,
}

/// The filters of a query, as text.
type Tags<'a> = Vec<(&'a str, &'a str)>;

/// Returns the queries of these rules, and why some of them cannot be evaluated.
pub(super) fn scans(
    rules: &[Arc<Rule>],
    kind_of: impl Fn(&str) -> Option<MetricType>,
) -> (Vec<Scan>, Vec<(Arc<Rule>, InvalidQuery)>) {
    let mut alike: HashMap<ScanKey<'_>, HashMap<Tags<'_>, Vec<&Arc<Rule>>>> = HashMap::new();
    for rule in rules {
        let RuleQuery::Saved(query) = &rule.settings.query else { continue };
        let tags = query.tags.iter().flatten();
        let tags = tags.map(|(key, text)| (key.as_str(), text.as_str())).collect();
        alike.entry(ScanKey::of(rule, query)).or_default().entry(tags).or_default().push(rule);
    }
    let mut scans = Vec::new();
    let mut refused = Vec::new();
    for by_tags in alike.into_values() {
        let mut shared: HashMap<Vec<String>, Vec<Scan>> = HashMap::new();
        for rules in by_tags.into_values() {
            match own_scan(&rules, &kind_of) {
                Ok(scan) => match filter_keys(&scan.plan) {
                    Some(keys) => shared.entry(keys).or_default().push(scan),
                    None => scans.push(scan),
                },
                Err(error) => {
                    let failed = rules.into_iter().map(|rule| (Arc::clone(rule), error.clone()));
                    refused.extend(failed);
                }
            }
        }
        for (keys, alike) in shared {
            if alike.len() < SHARED_MIN {
                scans.extend(alike);
            } else {
                scans.push(combine(&keys, alike));
            }
        }
    }
    (scans, refused)
}

/// Returns the scan of rules with the same query.
fn own_scan(
    rules: &[&Arc<Rule>],
    kind_of: impl Fn(&str) -> Option<MetricType>,
) -> Result<Scan, InvalidQuery> {
    let source = || InvalidQuery::new("", "must be of a metric or of events");
    let first = rules.first().ok_or_else(source)?;
    let query = first.settings.saved_query().ok_or_else(source)?;
    let plan = plan_of(&first.settings, query, kind_of)?;
    let member = |rule: &&Arc<Rule>| ScanMember {
        rule: Arc::clone(rule),
        selected: Vec::new(),
        names: plan.group_names.clone(),
        keys: (0..plan.group_names.len()).collect(),
    };
    let members = rules.iter().map(member).collect();
    Ok(Scan { plan, window_ms: first.settings.window.ms(), members, apart: Vec::new() })
}

/// Returns the plan of a query of a rule.
pub(super) fn plan_of(
    rule: &RuleSettings,
    query: SavedQuery,
    kind_of: impl Fn(&str) -> Option<MetricType>,
) -> Result<QueryPlan, InvalidQuery> {
    let kind = query.metric.as_deref().and_then(kind_of);
    let is_absent = rule.condition.is_absent();
    // Whether there are events is their number; their values decide nothing.
    let query = if is_absent && query.event.is_some() {
        SavedQuery { aggregation: None, field: None, ..query }
    } else {
        query
    };
    QueryPlan::new(&query, kind)
}

/// Returns whether a value says that there is no data: without groups, the number of no events is
/// zero. Only for rules about the absence of data.
pub(super) fn is_nothing(plan: &QueryPlan, value: f64) -> bool {
    value == 0.0 && plan.counts_events()
}

/// Returns the keys of the filters if each selects one value, and grouping by them is possible.
fn filter_keys(plan: &QueryPlan) -> Option<Vec<String>> {
    let is_single = |filter: &TagFilter| match &filter.condition {
        TagCondition::AnyOf(values) => values.len() == 1,
        TagCondition::NoneOf(_) | TagCondition::Prefix(_) => false,
    };
    let keys: Vec<String> = plan.filters.iter().map(|filter| filter.key.clone()).collect();
    let added = keys.iter().filter(|key| plan.source.tag_position(key).is_none()).count();
    let fits = !keys.is_empty()
        && plan.group_names.len() + added <= GROUP_KEYS_MAX
        && plan.filters.iter().all(is_single);
    fits.then_some(keys)
}

/// Returns one scan for scans that differ only in the values of filters by these keys.
fn combine(filters: &[String], apart: Vec<Scan>) -> Scan {
    let mut members = Vec::with_capacity(apart.len());
    let mut shared: Option<(QueryPlan, i64)> = None;
    let mut values: Vec<Vec<String>> = vec![Vec::new(); filters.len()];
    for scan in &apart {
        let (plan, _) = shared.get_or_insert_with(|| (scan.plan.clone(), scan.window_ms));
        // The same each time.
        let positions = plan.add_grouping(filters);
        let mut selected = Vec::with_capacity(filters.len());
        for ((filter, position), values) in
            scan.plan.filters.iter().zip(&positions).zip(&mut values)
        {
            let value = single_value(filter);
            values.push(value.clone());
            selected.push((*position, value));
        }
        for member in &scan.members {
            members.push(ScanMember { selected: selected.clone(), ..member.clone() });
        }
    }
    let Some((mut plan, window_ms)) = shared else { unreachable!("there are scans to combine") };
    for (filter, values) in plan.filters.iter_mut().zip(values) {
        filter.condition = TagCondition::AnyOf(values.into());
    }
    Scan { plan, window_ms, members, apart }
}

fn single_value(filter: &TagFilter) -> String {
    match &filter.condition {
        TagCondition::AnyOf(values) => values.first().cloned().unwrap_or_default(),
        TagCondition::NoneOf(_) | TagCondition::Prefix(_) => {
            unreachable!("only filters with one value are combined")
        }
    }
}

impl<'a> ScanKey<'a> {
    fn of(rule: &'a Rule, query: &'a SavedQuery) -> Self {
        Self {
            source: (query.metric.as_deref(), query.event.as_deref()),
            aggregation: query.aggregation.as_deref(),
            field: query.field.as_deref(),
            grouping: rule.settings.grouping(),
            window_ms: rule.settings.window.ms(),
            is_absent: rule.settings.condition.is_absent(),
        }
    }
}
