//! Compares what was found with the conditions of rules, and gives it to the ledger.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use telltale_engine::{Cancellation, TimestampMs};

use super::absent::KnownGroups;
use super::run::{Found, FoundGroup, run};
use super::scan::{plan_of, scans};
use super::status::{EvaluationStatus, receiving_for};
use crate::app::App;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::ledger::{Change, Directory, Labels, Observation, Subject};
use crate::areas::alerting::rules::{Condition, Rule};
use crate::areas::alerting::{limits, received};
use crate::areas::metrics;
use crate::areas::saved_queries::Measure;

/// After a start, how long missing data may just not have been received yet, at most.
const MISSING_MS_MAX: i64 = 15 * 60_000;

/// Groups that begin to meet their condition in one evaluation: there is no space for more.
const BEGUN_MAX: usize = limits::ALERTS_OPEN_MAX + limits::ALERT_GROUPS_MAX;

/// The observations of a rule.
type Observed = (Arc<Rule>, Vec<Observation>);

/// Evaluates all rules that are enabled. Blocks.
pub(in crate::areas::alerting) fn evaluate(app: &App) -> Result<(), AlertingError> {
    let alerting = app.alerting();
    alerting.ledger().follow_clock();
    let unchanged_since = alerting.ledger().clock_unchanged_since();
    let directory = alerting.directory(app)?;
    let now = app.now();
    let rules = directory.rules.values().filter(|rule| rule.settings.enabled);
    let rules: Vec<Arc<Rule>> = rules.cloned().collect();
    let (scans, refused) = scans(&rules, |name| metrics::kind_of(app, name));
    let status = alerting.evaluation();
    if app.engine().trouble().is_some() {
        status.interrupted(app.clock().steady());
    }
    let evaluation =
        Evaluation { app, status, directory: &directory, now, begun: AtomicUsize::new(0) };
    let observed = run(app, &scans, now, |found| evaluation.observe_found(found));
    for (rule, error) in refused {
        status.set_failure(&rule.id, Some(error.to_string()), now);
    }
    let is_evaluated =
        |id: &RuleId| directory.rules.get(id).is_some_and(|rule| rule.settings.enabled);
    status.finish(is_evaluated);
    alerting.ledger().follow_clock();
    if alerting.ledger().clock_unchanged_since() != unchanged_since {
        // What was found is of another time.
        return Ok(());
    }
    give(app, &directory, observed, now)?;
    give_received(app, now)
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
    if observed.is_empty() {
        return Ok(());
    }
    change(app, &directory, now, |change| {
        for (rule, observations) in observed {
            let subject = Subject::Rule(&rule);
            observations.into_iter().for_each(|observation| change.observe(subject, observation));
        }
    })
}

/// Gives the received alerts to the ledger, in a change of their own: what another sender wrote
/// must not keep the rules of this server from being evaluated.
fn give_received(app: &App, now: TimestampMs) -> Result<(), AlertingError> {
    let alerting = app.alerting();
    if alerting.received().is_empty() && alerting.ledger().is_calm() {
        return Ok(());
    }
    let directory = alerting.directory(app)?;
    change(app, &directory, now, |change| received::observe_all(app, &directory, change))
}

/// Makes a change, and says what could not be taken notice of.
fn change(
    app: &App,
    directory: &Directory,
    now: TimestampMs,
    work: impl FnOnce(&mut Change<'_>),
) -> Result<(), AlertingError> {
    let (refused, beyond) = app.alerting().ledger().change(directory, |change| {
        work(change);
        Ok((change.space().refused(), change.space().beyond()))
    })?;
    if refused > 0 {
        let max = limits::ALERTS_OPEN_MAX;
        let why = "there are too many, or their labels are too long";
        tracing::error!(refused, max, why, "alerts cannot begin");
    }
    for (rule, groups) in beyond {
        match rule {
            Some(rule) => {
                let reason = Some(too_many(groups));
                app.alerting().evaluation().set_failure(&rule, reason, now);
            }
            None => tracing::warn!(groups, "received alerts without a rule are not recorded"),
        }
    }
    Ok(())
}

fn too_many(groups: usize) -> String {
    let max = limits::RULE_ALERTS_MAX;
    format!("{groups} more groups meet the condition than the {max} that have alerts")
}

struct Evaluation<'a> {
    app: &'a App,
    status: &'a EvaluationStatus,
    directory: &'a Directory,
    now: TimestampMs,
    /// How many groups have begun to meet their condition.
    begun: AtomicUsize,
}

impl Evaluation<'_> {
    /// Returns what to observe of a rule, if anything.
    fn observe_found(&self, found: Found<'_>) -> Option<Observed> {
        let (observations, failure) = match &found.groups {
            Ok(_) => self.observe(found.rule, found.names, found.measure, found.groups.ok()?),
            // The groups of the rule stay as they are.
            Err(reason) => (Vec::new(), Some(reason.clone())),
        };
        self.status.set_failure(&found.rule.id, failure, self.now);
        (!observations.is_empty()).then(|| (Arc::clone(found.rule), observations))
    }

    /// Returns what to observe of a rule: groups that meet the condition, and those that are not
    /// calm; and what is wrong, if anything.
    fn observe(
        &self,
        rule: &Arc<Rule>,
        names: &[String],
        measure: Measure,
        groups: Vec<FoundGroup>,
    ) -> (Vec<Observation>, Option<String>) {
        let mut failure = None;
        let absent = match rule.settings.condition {
            Condition::Absent => match self.absent(rule, names, &groups) {
                Ok((absent, warning)) => {
                    failure = warning;
                    absent
                }
                // The groups of the rule stay as they are.
                Err(error) => return (Vec::new(), Some(error)),
            },
            Condition::Compares { .. } => Vec::new(),
        };
        let is_conclusive = self.is_conclusive(rule);
        let may_grow = !is_conclusive && measure.grows_with_data();
        let known = self.app.alerting().ledger().groups_of(&Some(rule.id.clone()));
        // A calm group is only known because it fired within the last hour.
        let busy = known.iter().filter(|(_, group)| !group.is_calm());
        let mut space = limits::RULE_ALERTS_MAX.saturating_sub(busy.count());
        let mut known: BTreeSet<Labels> =
            known.into_iter().map(|(_, group)| group.labels).collect();
        let mut beyond = 0_usize;
        let mut observations = Vec::new();
        let absent = absent.into_iter().map(|keys| (keys, None));
        let found = groups.into_iter().map(|group| (group.keys, Some(group.value)));
        for (keys, value) in found.chain(absent) {
            let condition = rule.settings.condition;
            let is_met = condition.is_met(value);
            if may_grow && !value.is_some_and(|value| condition.is_certain(value)) {
                // It stays as it is: some of its data may not have been received.
                let labels: Labels = names.iter().cloned().zip(keys).collect();
                known.remove(&labels);
                continue;
            }
            if !is_met && known.is_empty() {
                continue;
            }
            let labels: Labels = names.iter().cloned().zip(keys).collect();
            let is_known = known.remove(&labels);
            let is_new = !is_known && is_met;
            if is_new && (space == 0 || self.begun.load(Ordering::Relaxed) >= BEGUN_MAX) {
                beyond += 1;
            } else if is_known || is_met {
                space = space.saturating_sub(usize::from(!is_known));
                self.begun.fetch_add(usize::from(is_new), Ordering::Relaxed);
                observations.push(Observation {
                    labels,
                    is_met,
                    value,
                    summary: None,
                    since: None,
                });
            }
        }
        if is_conclusive {
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
            failure = Some(too_many(beyond));
        }
        (observations, failure)
    }

    /// Returns the groups without data of a rule for their absence, and what is wrong, if anything.
    fn absent(
        &self,
        rule: &Arc<Rule>,
        names: &[String],
        groups: &[FoundGroup],
    ) -> Result<(Vec<Vec<String>>, Option<String>), String> {
        let is_conclusive = self.is_conclusive(rule);
        if names.is_empty() {
            let is_absent = groups.is_empty() && is_conclusive;
            return Ok((if is_absent { vec![Vec::new()] } else { Vec::new() }, None));
        }
        let (of, window_ms) = (self.directory.revision(&rule.id), rule.settings.window.ms());
        let mut all = self.status.known_groups();
        let known = match all.get_mut(&rule.id) {
            Some(known) if known.of == of => known,
            _ => {
                let loaded = self.load_known(rule, names, of)?;
                all.entry(rule.id.clone()).insert_entry(loaded).into_mut()
            }
        };
        let present: HashSet<&Vec<String>> = groups.iter().map(|group| &group.keys).collect();
        let refused =
            groups.iter().filter(|group| !known.insert(group.keys.clone(), self.now)).count();
        known.forget_old(window_ms, self.now);
        let max = limits::RULE_GROUPS_KNOWN_MAX;
        let warning = (refused > 0).then(|| {
            format!("{refused} more groups have data than the {max} whose absence is noticed")
        });
        if !is_conclusive {
            return Ok((Vec::new(), warning));
        }
        let absent = known.groups().filter(|keys| !present.contains(keys)).cloned();
        Ok((absent.collect(), warning))
    }

    /// Finds the groups of a rule that had data, or have an alert because they have none.
    fn load_known(
        &self,
        rule: &Arc<Rule>,
        names: &[String],
        of: Option<u64>,
    ) -> Result<KnownGroups, String> {
        let query = rule.settings.saved_query().ok_or("the rule has no query")?;
        let plan = plan_of(&rule.settings, query, |name| metrics::kind_of(self.app, name));
        let plan = plan.map_err(|error| error.to_string())?;
        let waiting = Cancellation::new(self.app.clock().clone(), self.app.query_timeout());
        let window_ms = rule.settings.window.ms();
        let load = || KnownGroups::load(self.app, &plan, of, window_ms, self.now);
        let mut known = waiting.scope(load).map_err(|error| error.to_string())?;
        for (_, group) in self.app.alerting().ledger().groups_of(&Some(rule.id.clone())) {
            if group.labels.iter().map(|(name, _)| name).eq(names) {
                let keys = group.labels.into_iter().map(|(_, value)| value);
                known.insert(keys.collect(), self.now);
            }
        }
        Ok(known)
    }

    /// Returns whether data that is missing in the window of a rule does not exist, rather than
    /// that the server did not run or its clock was wrong.
    fn is_conclusive(&self, rule: &Rule) -> bool {
        let enough = rule.settings.window.ms().min(MISSING_MS_MAX);
        receiving_for(self.app) >= Duration::from_millis(enough.unsigned_abs())
    }
}
