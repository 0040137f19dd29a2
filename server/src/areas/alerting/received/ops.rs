//! The operations on received alerts. All of them block.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use telltale_engine::Cancellation;

use super::held::{Kept, ReceivedAlert};
use super::matching::{Matchers, name_of};
use crate::app::App;
use crate::areas::alerting::alertmanager::{AlertFilter, AlertState, PostedAlert, ShownAlert};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ledger::{Change, Directory, Observation, Subject};
use crate::areas::alerting::notice::Severity;
use crate::areas::alerting::rules::Rule;
use crate::areas::alerting::{channels, delivery, limits};

/// Annotations that explain an alert, the most useful first.
const SUMMARIES: [&str; 3] = ["summary", "description", "message"];
/// Characters of an annotation that an alert keeps: what anybody reads in a message.
const SUMMARY_CHARS_MAX: usize = limits::ALERTING_DESCRIPTION_CHARS_MAX;
/// The label with the severity, and the words for the greatest and the least.
const SEVERITY: &str = "severity";
const CRITICAL: [&str; 4] = ["critical", "page", "error", "fatal"];
const INFO: [&str; 4] = ["info", "information", "notice", "debug"];

/// What a received alert means for a rule, or without one.
struct Meaning<'a> {
    subject: Subject<'a>,
    observation: Observation,
}

/// Takes alerts from a sender. Returns how many were refused because there is no space.
pub(super) fn receive(app: &App, posted: Vec<PostedAlert>) -> Result<usize, AlertingError> {
    let alerting = app.alerting();
    let kept = alerting.received().keep(posted, app.now())?;
    let Kept { changed, refused } = kept;
    let directory = alerting.directory(app)?;
    let matchers = Matchers::new(&directory);
    alerting.ledger().change(&directory, |change| {
        for (hash, alert) in &changed {
            let current = alerting.received().get(*hash);
            let is_met = current.is_some();
            observe(change, &matchers, current.as_deref().unwrap_or(alert), is_met);
        }
        Ok(())
    })?;
    delivery::send_due(app);
    Ok(refused)
}

/// Ends the alerts that were not repeated in time. None ends as long as senders may not have been
/// able to: `receiving_for` says for how long they could.
pub(in crate::areas::alerting) fn expire(
    app: &App,
    receiving_for: Duration,
) -> Result<(), AlertingError> {
    let alerting = app.alerting();
    if receiving_for < Duration::from_millis(limits::RECEIVED_RESOLVE_MS.unsigned_abs()) {
        return Ok(());
    }
    let ended = alerting.received().expire(app.now())?;
    if ended.is_empty() {
        return Ok(());
    }
    let directory = alerting.directory(app)?;
    let matchers = Matchers::new(&directory);
    alerting.ledger().change(&directory, |change| {
        ended.iter().for_each(|alert| observe(change, &matchers, alert, false));
        Ok(())
    })
}

/// Observes all received alerts, for the rules as they are now, and that no others fire.
pub(in crate::areas::alerting) fn observe_all(
    app: &App,
    directory: &Directory,
    change: &mut Change<'_>,
) {
    let matchers = Matchers::new(directory);
    let mut seen = HashSet::new();
    // Inside the change, so that what a sender ends meanwhile does not fire again.
    for alert in app.alerting().received().all() {
        for Meaning { subject, observation } in meanings(&matchers, &alert, true) {
            seen.extend(observation.is_met.then(|| subject.key(&observation.labels)));
            change.observe(subject, observation);
        }
    }
    let rules = matchers.rules().map(|rule| Some(rule.id.clone()));
    for rule in rules.chain([None]) {
        change.end_groups(&rule, |hash| !seen.contains(&(rule.clone(), hash)));
    }
}

/// Returns the alerts that a filter shows.
pub(super) fn list(app: &App, filter: &AlertFilter) -> Result<Vec<ShownAlert>, AlertingError> {
    let alerting = app.alerting();
    let directory = alerting.directory(app)?;
    let names = channels::names(app)?;
    let matchers = Matchers::new(&directory);
    let now = app.now();
    let mut shown = Vec::new();
    let muting = directory.active_windows(now);
    for alert in alerting.received().all() {
        Cancellation::check_current()?;
        let rules: Vec<&Arc<Rule>> = matchers.of(&alert.labels).collect();
        let channels = rules.iter().flat_map(|rule| &rule.settings.channel_ids);
        let mut receivers: Vec<String> = channels.filter_map(|id| names.get(id)).cloned().collect();
        receivers.sort();
        receivers.dedup();
        let windows = rules.iter().map(|rule| muting.id_for(&rule.id));
        let windows: Option<Vec<String>> = windows.collect();
        let muted_by = windows.filter(|_| !rules.is_empty()).unwrap_or_default();
        let alert = ShownAlert {
            labels: alert.labels.clone(),
            annotations: alert.annotations.clone(),
            starts_at: alert.starts_at,
            // It is kept until its sender can have repeated it.
            ends_at: alert.ends_at.max(now),
            updated_at: alert.updated_at,
            generator_url: alert.generator_url.clone(),
            receivers,
            state: if muted_by.is_empty() { AlertState::Active } else { AlertState::Suppressed },
            silenced_by: Vec::new(),
            inhibited_by: Vec::new(),
            muted_by,
        };
        if filter.shows(&alert, now) {
            shown.push(alert);
        }
    }
    Ok(shown)
}

fn observe(change: &mut Change<'_>, matchers: &Matchers, alert: &ReceivedAlert, is_met: bool) {
    for Meaning { subject, observation } in meanings(matchers, alert, is_met) {
        change.observe(subject, observation);
    }
}

/// Returns what an alert means for each rule that matches it, and without a rule: rules may have
/// been created since it was recorded without one.
fn meanings<'a>(
    matchers: &'a Matchers,
    alert: &'a ReceivedAlert,
    is_met: bool,
) -> Vec<Meaning<'a>> {
    let labels = &alert.labels;
    let meaning = |subject, is_met| {
        let observation = Observation {
            labels: labels.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            is_met,
            value: None,
            summary: summary(&alert.annotations),
            since: Some(alert.starts_at),
        };
        Meaning { subject, observation }
    };
    let matched = matchers.of(labels).map(|rule| meaning(Subject::Rule(rule), is_met));
    let mut meanings: Vec<Meaning<'_>> = matched.collect();
    let unmatched = Subject::Unmatched { name: name_of(labels), severity: severity(labels) };
    meanings.push(meaning(unmatched, is_met && meanings.is_empty()));
    meanings
}

fn summary(annotations: &BTreeMap<String, String>) -> Option<String> {
    let summary = SUMMARIES.iter().find_map(|name| annotations.get(*name))?;
    Some(summary.chars().take(SUMMARY_CHARS_MAX).collect())
}

fn severity(labels: &BTreeMap<String, String>) -> Severity {
    let label = labels.get(SEVERITY).map(|label| label.to_lowercase()).unwrap_or_default();
    match label.as_str() {
        word if CRITICAL.contains(&word) => Severity::Critical,
        word if INFO.contains(&word) => Severity::Info,
        _ => Severity::Warning,
    }
}
