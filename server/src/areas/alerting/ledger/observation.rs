//! What is observed of a rule, or of a received alert, and whether its condition is met.

use telltale_engine::TimestampMs;

use super::model::{Comparison, GroupHash, Labels, RuleFacts};
use super::stored::GroupKey;
use crate::areas::alerting::notice::Severity;
use crate::areas::alerting::rules::Rule;

/// What a rule found out about one of its groups.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) struct Observation {
    pub(in crate::areas::alerting) labels: Labels,
    /// Whether the condition is met.
    pub(in crate::areas::alerting) is_met: bool,
    /// `None` without data.
    pub(in crate::areas::alerting) value: Option<f64>,
    /// More about it, for people.
    pub(in crate::areas::alerting) summary: Option<String>,
    /// Since when, if that is known otherwise than by observations.
    pub(in crate::areas::alerting) since: Option<TimestampMs>,
}

/// What an observation is about.
#[derive(Clone, Copy, Debug)]
pub(in crate::areas::alerting) enum Subject<'a> {
    /// A rule.
    Rule(&'a Rule),
    /// A received alert that no rule matches.
    Unmatched {
        /// The name of the alert.
        name: &'a str,
        severity: Severity,
    },
}

impl<'a> Subject<'a> {
    /// Returns the key of one of its groups.
    pub(in crate::areas::alerting) fn key(self, labels: &Labels) -> GroupKey {
        let rule = self.rule().map(|rule| &rule.id);
        let labels = labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        (rule.cloned(), GroupHash::of(rule, labels))
    }

    pub(super) fn rule(self) -> Option<&'a Rule> {
        match self {
            Self::Rule(rule) => Some(rule),
            Self::Unmatched { .. } => None,
        }
    }

    pub(super) fn hold_ms(self) -> i64 {
        self.rule().map_or(0, |rule| rule.settings.hold.ms())
    }

    pub(super) fn description(self) -> Option<String> {
        self.rule().and_then(|rule| rule.settings.description.clone())
    }

    /// Returns what an alert keeps of it.
    pub(super) fn facts(self) -> RuleFacts {
        let settings = match self {
            Self::Rule(rule) => &rule.settings,
            Self::Unmatched { name, severity } => {
                return RuleFacts {
                    name: name.to_owned(),
                    severity,
                    condition: format!("{name} fires"),
                    comparison: None,
                    services: Vec::new(),
                };
            }
        };
        RuleFacts {
            name: settings.name.clone(),
            severity: settings.severity,
            condition: settings.condition_text(),
            comparison: settings
                .comparison()
                .map(|(sign, threshold)| Comparison { sign, threshold }),
            services: settings.services.clone(),
        }
    }
}
