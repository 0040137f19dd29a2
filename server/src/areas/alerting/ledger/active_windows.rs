//! Which maintenance windows are active, without computing their recurrences each time.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use telltale_engine::TimestampMs;

use super::model::RuleRef;
use crate::areas::alerting::ids::{RuleId, WindowId};
use crate::areas::alerting::windows::{Window, WindowState};

/// The states of windows as they were computed last.
#[derive(Debug, Default)]
pub(super) struct WindowStates(Mutex<HashMap<WindowId, WindowState>>);

/// The windows that are active at some time.
#[derive(Debug, Default)]
pub(in crate::areas::alerting) struct ActiveWindows<'a> {
    /// One that mutes all rules.
    of_all: Option<&'a Window>,
    by_rule: HashMap<&'a str, &'a Window>,
}

impl WindowStates {
    /// Returns the states of the windows that `is_same` chooses.
    pub(super) fn keep(&self, is_same: impl Fn(&WindowId) -> bool) -> Self {
        let states = self.0.lock();
        let kept = states.iter().filter(|(id, _)| is_same(id));
        Self(Mutex::new(kept.map(|(id, state)| (id.clone(), *state)).collect()))
    }

    /// Returns the windows that are active at `now`.
    pub(super) fn active<'a>(
        &self,
        windows: &'a HashMap<WindowId, Arc<Window>>,
        now: TimestampMs,
    ) -> ActiveWindows<'a> {
        let mut states = self.0.lock();
        let mut active: Vec<&Window> = Vec::new();
        for (id, window) in windows {
            let known = states.get(id).filter(|state| state.holds_at(now));
            let state = known.copied().unwrap_or_else(|| window.state_at(now));
            states.insert(id.clone(), state);
            if state.is_active {
                active.push(window);
            }
        }
        // The same window is named each time.
        active.sort_by_key(|window| window.id());
        ActiveWindows::new(&active)
    }
}

impl<'a> ActiveWindows<'a> {
    fn new(active: &[&'a Window]) -> Self {
        let mut found = Self::default();
        for window in active {
            match window.rules() {
                None => found.of_all = found.of_all.or(Some(window)),
                Some(rules) => {
                    for rule in rules {
                        found.by_rule.entry(rule).or_insert(window);
                    }
                }
            }
        }
        found
    }

    /// Returns the id of a window that mutes a rule, if one does.
    pub(in crate::areas::alerting) fn id_for(&self, rule: &RuleId) -> Option<String> {
        let own = self.by_rule.get(rule.as_str()).copied();
        self.of_all.or(own).map(|window| window.id().as_str().to_owned())
    }

    /// Returns a window that mutes a rule. Alerts without a rule are muted by windows for all.
    pub(super) fn muting(&self, rule: &RuleRef) -> Option<&'a Window> {
        let own = rule.as_ref().and_then(|rule| self.by_rule.get(RuleId::as_str(rule)));
        self.of_all.or(own.copied())
    }
}
