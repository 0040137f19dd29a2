//! Compares what was found with the conditions of rules, and gives it to the ledger.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use telltale_engine::TimestampMs;

use super::absent::KnownGroups;
use super::run::{Found, FoundGroup, run};
use super::scan::scans;
use super::status::EvaluationStatus;
use crate::app::App;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::ledger::{Directory, Labels, Observation, Subject};
use crate::areas::alerting::rules::{Condition, Rule};
use crate::areas::alerting::{limits, received};
use crate::areas::metrics;
use crate::areas::saved_queries::QueryPlan;

/// After a start, how long missing data may just not have been received yet, at most.
const MISSING_MS_MAX: i64 = 15 * 60_000;

/// The observations of a rule.
type Observed = (Arc<Rule>, Vec<Observation>);

/// Evaluates all rules that are enabled. Blocks.
pub(in crate::areas::alerting) fn evaluate(app: &App) -> Result<(), AlertingError> {
    let alerting = app.alerting();
    let directory = alerting.directory(app)?;
    let now = app.now();
    let rules = directory.rules.values().filter(|rule| rule.settings.enabled);
    let rules: Vec<Arc<Rule>> = rules.cloned().collect();
    let (scans, refused) = scans(&rules, |name| metrics::kind_of(app, name));
    let found = run(app, &scans, now);
    let status = alerting.evaluation();
    for (rule, error) in refused {
        status.set_failure(&rule.id, Some(error.to_string()), now);
    }
    let observed = Evaluation { app, status, directory: &directory, now }.observe_all(found);
    let is_evaluated =
        |id: &RuleId| directory.rules.get(id).is_some_and(|rule| rule.settings.enabled);
    status.finish(is_evaluated);
    give(app, &directory, observed, now)
}

/// Gives the observations to the ledger, except those of rules that have changed meanwhile.
fn give(
    app: &App,
    evaluated: &Arc<Directory>,
    observed: Vec<Observed>,
    now: TimestampMs,
) -> Result<(), AlertingError> {
    let directory = app.alerting().directory(app)?;
    let is_current = |rule: &Arc<Rule>| {
        Arc::ptr_eq(evaluated, &directory)
            || directory.rules.get(&rule.id).is_some_and(|current| Arc::ptr_eq(current, rule))
    };
    let observed: Vec<Observed> =
        observed.into_iter().filter(|(rule, _)| is_current(rule)).collect();
    let ledger = app.alerting().ledger();
    if observed.is_empty() && ledger.is_calm() && app.alerting().received().is_empty() {
        return Ok(());
    }
    let refused = ledger.change(&directory, now, |change| {
        for (rule, observations) in observed {
            let subject = Subject::Rule(&rule);
            observations.into_iter().for_each(|observation| change.observe(subject, observation));
        }
        received::observe_all(app, &directory, change);
        Ok(change.refused())
    })?;
    if refused > 0 {
        let max = limits::ALERTS_OPEN_MAX;
        tracing::error!(refused, max, "alerts cannot begin: too many are open");
    }
    Ok(())
}

struct Evaluation<'a> {
    app: &'a App,
    status: &'a EvaluationStatus,
    directory: &'a Directory,
    now: TimestampMs,
}

impl Evaluation<'_> {
    fn observe_all(&self, found: Vec<Found>) -> Vec<Observed> {
        let mut all = Vec::new();
        for Found { rule, names, groups } in found {
            match groups {
                Ok(groups) => {
                    let (observations, failure) = self.observe(&rule, &names, groups);
                    self.status.set_failure(&rule.id, failure, self.now);
                    if !observations.is_empty() {
                        all.push((rule, observations));
                    }
                }
                // The groups of the rule stay as they are.
                Err(reason) => self.status.set_failure(&rule.id, Some(reason), self.now),
            }
        }
        all
    }

    /// Returns what to observe of a rule: groups that meet the condition, and those that are not
    /// calm; and what is wrong, if anything.
    fn observe(
        &self,
        rule: &Arc<Rule>,
        names: &[String],
        groups: Vec<FoundGroup>,
    ) -> (Vec<Observation>, Option<String>) {
        let mut failure = None;
        let absent = match rule.settings.condition {
            Condition::Absent => self.absent(rule, names, &groups).unwrap_or_else(|error| {
                failure = Some(error);
                Vec::new()
            }),
            Condition::Compares { .. } => Vec::new(),
        };
        let known = self.app.alerting().ledger().groups_of(&Some(rule.id.clone()));
        let mut known: BTreeSet<Labels> =
            known.into_iter().map(|(_, group)| group.labels).collect();
        let mut space = limits::RULE_ALERTS_MAX.saturating_sub(known.len());
        let mut beyond = 0_usize;
        let mut observations = Vec::new();
        let absent = absent.into_iter().map(|keys| (keys, None));
        let found = groups.into_iter().map(|group| (group.keys, Some(group.value)));
        for (keys, value) in found.chain(absent) {
            let is_met = rule.settings.condition.is_met(value);
            if !is_met && known.is_empty() {
                continue;
            }
            let labels: Labels = names.iter().cloned().zip(keys).collect();
            let is_known = known.remove(&labels);
            if !is_known && is_met && space == 0 {
                beyond += 1;
            } else if is_known || is_met {
                space = space.saturating_sub(usize::from(!is_known));
                observations.push(Observation {
                    labels,
                    is_met,
                    value,
                    summary: None,
                    since: None,
                });
            }
        }
        if self.is_conclusive(rule) {
            let gone = known.into_iter().map(|labels| Observation {
                labels,
                is_met: false,
                value: None,
                summary: None,
                since: None,
            });
            observations.extend(gone);
        }
        if beyond > 0 {
            let max = limits::RULE_ALERTS_MAX;
            failure = Some(format!(
                "{beyond} more groups meet the condition than the {max} that have alerts"
            ));
        }
        (observations, failure)
    }

    /// Returns the groups without data of a rule for their absence.
    fn absent(
        &self,
        rule: &Arc<Rule>,
        names: &[String],
        groups: &[FoundGroup],
    ) -> Result<Vec<Vec<String>>, String> {
        let is_conclusive = self.is_conclusive(rule);
        if names.is_empty() {
            let is_absent = groups.is_empty() && is_conclusive;
            return Ok(if is_absent { vec![Vec::new()] } else { Vec::new() });
        }
        let (of, window_ms) = (self.directory.revision(&rule.id), rule.settings.window.ms());
        let mut all = self.status.known_groups();
        let known = match all.get_mut(&rule.id) {
            Some(known) if known.of == of => known,
            _ => {
                let query = rule.settings.saved_query().ok_or("the rule has no query")?;
                let kind = query.metric.as_deref();
                let kind = kind.and_then(|name| metrics::kind_of(self.app, name));
                let plan = QueryPlan::new(&query, kind).map_err(|error| error.to_string())?;
                let loaded = KnownGroups::load(self.app, &plan, of, window_ms, self.now);
                let loaded = loaded.map_err(|error| error.to_string())?;
                all.entry(rule.id.clone()).insert_entry(loaded).into_mut()
            }
        };
        let present: HashSet<&Vec<String>> = groups.iter().map(|group| &group.keys).collect();
        for group in groups {
            known.insert(group.keys.clone(), self.now);
        }
        known.forget_old(window_ms, self.now);
        if !is_conclusive {
            return Ok(Vec::new());
        }
        Ok(known.groups().filter(|keys| !present.contains(keys)).cloned().collect())
    }

    /// Returns whether data that is missing in the window of a rule does not exist, rather than
    /// that the server did not run or its clock was wrong.
    fn is_conclusive(&self, rule: &Rule) -> bool {
        let enough = rule.settings.window.ms().min(MISSING_MS_MAX);
        let received = self.status.receiving_for(self.app.clock().steady());
        received >= Duration::from_millis(enough.unsigned_abs())
    }
}
