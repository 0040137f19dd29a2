//! Evaluates a rule in the past.

use std::collections::{BTreeMap, HashSet};

use telltale_engine::{TimeRange, TimestampMs};

use super::absent::KnownGroups;
use super::scan::{is_nothing, plan_of};
use crate::app::App;
use crate::areas::alerting::error::{AlertingError, Invalid};
use crate::areas::alerting::ledger::{FiringPeriod, Labels, Simulation};
use crate::areas::alerting::limits;
use crate::areas::alerting::rules::RuleSettings;
use crate::areas::metrics;
use crate::areas::saved_queries::{Buckets, QueryPlan, run_query};

/// What a rule would have done.
#[derive(Debug)]
pub(in crate::areas::alerting) struct PastEvaluation {
    /// In the order in which they began.
    pub(in crate::areas::alerting) periods: Vec<FiringPeriod>,
    /// Milliseconds between two evaluations.
    pub(in crate::areas::alerting) step_ms: i64,
    /// The number of evaluations.
    pub(in crate::areas::alerting) evaluations: usize,
    /// When it ended early, because there were too many periods.
    pub(in crate::areas::alerting) stopped_at: Option<TimestampMs>,
}

/// Evaluates a rule at each step of a range, as if it had existed. Blocks.
pub(in crate::areas::alerting) fn evaluate_past(
    app: &App,
    rule: &RuleSettings,
    range: TimeRange,
) -> Result<PastEvaluation, AlertingError> {
    let received = || Invalid::field("rule.query", "must be of a metric or of events");
    let query = rule.saved_query().ok_or_else(received)?;
    let plan = plan_of(rule, query, |name| metrics::kind_of(app, name));
    let plan = plan.map_err(|invalid| Invalid::from(invalid).within("rule"))?;
    let step_ms = step_ms(app, range);
    let window_ms = rule.window.ms();
    let mut known = match rule.condition.is_absent() && !plan.group_names.is_empty() {
        true => Some(KnownGroups::load(app, &plan, None, window_ms, range.start)?),
        false => None,
    };
    let mut past = Simulation::new(rule.hold.ms());
    let mut evaluations = 0;
    let mut now = range.start;
    while now < range.end {
        let met = met_at(app, rule, &plan, known.as_mut(), now)?;
        past.observe(met, now);
        evaluations += 1;
        if past.len() >= limits::PREVIEW_PERIODS_MAX {
            let stopped_at = Some(now);
            return Ok(PastEvaluation { periods: past.finish(), step_ms, evaluations, stopped_at });
        }
        now = TimestampMs(now.0.saturating_add(step_ms));
    }
    Ok(PastEvaluation { periods: past.finish(), step_ms, evaluations, stopped_at: None })
}

/// Returns the interval of evaluations, or a multiple of it if there would be too many.
fn step_ms(app: &App, range: TimeRange) -> i64 {
    let interval = app.alerting().rules().evaluation_interval.duration().as_millis();
    let interval = i64::try_from(interval).unwrap_or(i64::MAX).max(1);
    let max = i64::try_from(limits::PREVIEW_EVALUATIONS_MAX).unwrap_or(i64::MAX);
    let least = range.len_ms().saturating_add(max - 1) / max;
    interval.saturating_mul(least.saturating_add(interval - 1).max(interval) / interval)
}

/// Returns the groups that met the condition at a time, with their values.
fn met_at(
    app: &App,
    rule: &RuleSettings,
    plan: &QueryPlan,
    known: Option<&mut KnownGroups>,
    now: TimestampMs,
) -> Result<BTreeMap<Labels, Option<f64>>, AlertingError> {
    let end = TimestampMs(now.0.saturating_add(1));
    let start = TimestampMs(end.0.saturating_sub(rule.window.ms()));
    let range = TimeRange { start, end };
    let found = run_query(app, plan, range, Buckets::One, &[plan.measure])?;
    let (groups, _memory) = found.into_parts();
    let labels = |keys: Vec<String>| plan.group_names.iter().cloned().zip(keys).collect();
    let is_absent = rule.condition.is_absent();
    let found = groups.into_iter().filter_map(|group| {
        let value = group.whole(0)?;
        (!(is_absent && is_nothing(plan, value))).then_some((group.keys, value))
    });
    if !is_absent {
        let met = found.filter(|(_, value)| rule.condition.is_met(Some(*value)));
        let met = met.take(limits::RULE_GROUPS_KNOWN_MAX);
        return Ok(met.map(|(keys, value)| (labels(keys), Some(value))).collect());
    }
    let found: HashSet<Vec<String>> = found.map(|(keys, _)| keys).collect();
    let Some(known) = known else {
        let absent = found.is_empty().then(|| (Labels::new(), None));
        return Ok(absent.into_iter().collect());
    };
    for keys in &found {
        known.insert(keys.clone(), now);
    }
    known.forget_old(rule.window.ms(), now);
    let absent = known.groups().filter(|keys| !found.contains(*keys)).cloned();
    Ok(absent.map(|keys| (labels(keys), None)).collect())
}
