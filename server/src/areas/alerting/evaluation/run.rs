//! Executes the queries of an evaluation, a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use telltale_engine::{Cancellation, TimeRange, TimestampMs};

use super::scan::{Scan, ScanMember, is_nothing};
use crate::app::App;
use crate::areas::alerting::rules::Rule;
use crate::areas::saved_queries::{Buckets, Measure, QueryGroup, run_query};

/// Queries at a time: dashboards need processors too.
const THREADS_MAX: usize = 2;

/// What a query found for a rule.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) rule: &'a Arc<Rule>,
    /// The names of its grouping keys.
    pub(super) names: &'a [String],
    pub(super) measure: Measure,
    /// The groups with data, or why the query failed.
    pub(super) groups: Result<Vec<FoundGroup>, String>,
}

/// A group of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundGroup {
    /// The values of the grouping keys.
    pub(super) keys: Vec<String>,
    pub(super) value: f64,
}

/// Executes all queries, and returns what `observe` makes of what they found for each rule: the
/// groups of one rule at a time are in memory. Blocks.
pub(super) fn run<T: Send>(
    app: &App,
    scans: &[Scan],
    now: TimestampMs,
    observe: impl Fn(Found<'_>) -> Option<T> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let work = || {
        while let Some(scan) = scans.get(next.fetch_add(1, Ordering::Relaxed)) {
            run_scan(app, scan, now, &mut |found| {
                let observed = observe(found);
                all.lock().unwrap_or_else(PoisonError::into_inner).extend(observed);
            });
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(THREADS_MAX).min(scans.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn run_scan(app: &App, scan: &Scan, now: TimestampMs, give: &mut dyn FnMut(Found<'_>)) {
    // The current millisecond is included, as in every query that ends now.
    let start = TimestampMs(now.0.saturating_add(1).saturating_sub(scan.window_ms));
    let range = TimeRange { start, end: TimestampMs(now.0.saturating_add(1)) };
    let waiting = Cancellation::new(app.clock().clone(), app.query_timeout());
    let measures = [scan.plan.measure];
    let found = waiting.scope(|| run_query(app, &scan.plan, range, Buckets::One, &measures));
    match found {
        Ok(groups) => take(scan, &groups, give),
        // The groups of all rules may be too many for one query.
        Err(_) if !scan.apart.is_empty() => {
            scan.apart.iter().for_each(|scan| run_scan(app, scan, now, give));
        }
        Err(error) => {
            for member in &scan.members {
                give(member.found(scan, Err(error.to_string())));
            }
        }
    }
}

/// Gives each rule its groups.
fn take(scan: &Scan, groups: &[QueryGroup], give: &mut dyn FnMut(Found<'_>)) {
    let by_selected = Index::new(scan, groups);
    for member in &scan.members {
        let of_member = by_selected.of(member).filter_map(|group| {
            let keys = member.keys.iter().map(|key| group.keys.get(*key).cloned());
            let value = group.whole(0).filter(|value| !scan.is_nothing(*value))?;
            Some(FoundGroup { keys: keys.collect::<Option<_>>()?, value })
        });
        let mut found: Vec<FoundGroup> = of_member.collect();
        let is_absent = member.rule.settings.condition.is_absent();
        if found.is_empty() && member.keys.is_empty() && scan.plan.counts() && !is_absent {
            // As a query of its own says: without groups, the number of no events is zero.
            found.push(FoundGroup { keys: Vec::new(), value: 0.0 });
        }
        give(member.found(scan, Ok(found)));
    }
}

impl ScanMember {
    fn found<'a>(&'a self, scan: &Scan, groups: Result<Vec<FoundGroup>, String>) -> Found<'a> {
        Found { rule: &self.rule, names: &self.names, measure: scan.plan.measure, groups }
    }
}

/// Finds the groups of a rule without looking at all groups of the scan.
struct Index<'a> {
    groups: &'a [QueryGroup],
    /// The groups by the value of the first key that rules select; `None` if they select none.
    by_value: Option<std::collections::HashMap<&'a str, Vec<usize>>>,
    all: Vec<usize>,
}

impl<'a> Index<'a> {
    fn new(scan: &Scan, groups: &'a [QueryGroup]) -> Self {
        let first = scan.members.first().and_then(|member| member.selected.first());
        let by_value = first.map(|(position, _)| {
            let mut by_value = std::collections::HashMap::<&str, Vec<usize>>::new();
            for (i, group) in groups.iter().enumerate() {
                if let Some(value) = group.keys.get(*position) {
                    by_value.entry(value).or_default().push(i);
                }
            }
            by_value
        });
        let all = if by_value.is_none() { (0..groups.len()).collect() } else { Vec::new() };
        Self { groups, by_value, all }
    }

    fn of<'b>(&'b self, member: &'b ScanMember) -> impl Iterator<Item = &'b QueryGroup> {
        let found = match (&self.by_value, member.selected.first()) {
            (Some(by_value), Some((_, value))) => by_value.get(value.as_str()),
            _ => Some(&self.all),
        };
        let groups = found.into_iter().flatten().filter_map(|i| self.groups.get(*i));
        groups.filter(|group| {
            let mut selected = member.selected.iter();
            selected.all(|(position, value)| group.keys.get(*position) == Some(value))
        })
    }
}

impl Scan {
    /// Returns whether a value says that there is no data.
    fn is_nothing(&self, value: f64) -> bool {
        let is_absent = |member: &ScanMember| member.rule.settings.condition.is_absent();
        is_nothing(&self.plan, value) && self.members.iter().all(is_absent)
    }
}
