//! The ledger against a naive model over random histories, with a restart between any two steps.

use std::collections::BTreeSet;

use proptest::prelude::*;
use telltale_engine::TimestampMs;

use super::fixture::{DIRECT, Fixture, START, Sent, sent};
use crate::areas::alerting::ledger::model::AlertStatus;
use crate::areas::alerting::notice::NoticeKind;
use crate::areas::alerting::policies::Policy;
use crate::areas::alerting::policies::examples::policy;
use crate::areas::alerting::windows::examples::window;

/// What may happen in a minute.
#[derive(Clone, Copy, Debug)]
enum Event {
    Condition {
        host: usize,
        is_met: bool,
    },
    Acknowledge {
        host: usize,
    },
    Resolve {
        host: usize,
    },
    Window {
        is_active: bool,
    },
    Restart,
    /// The server does not run for these minutes.
    Down {
        minutes: i64,
    },
}

const HOSTS: [&str; 2] = ["a", "b"];

/// What a host is expected to be in.
#[derive(Clone, Debug, Default)]
struct Model {
    is_met: bool,
    is_open: bool,
    is_held: bool,
    is_acknowledged: bool,
    is_muted: bool,
    cycle: u32,
    cycle_start: i64,
    /// Steps that were due, by cycle and delay; `None` is the start of a cycle.
    done: BTreeSet<(u32, Option<i64>)>,
    told: BTreeSet<String>,
    turns: Vec<i64>,
}

impl Model {
    fn may_turn(&self, minute: i64) -> bool {
        // Flapping has tests of its own.
        self.turns.iter().filter(|turn| minute - **turn < 60).count() < 6
    }

    fn observe(&mut self, host: &str, is_met: bool, minute: i64, expected: &mut Vec<Sent>) {
        self.is_met = is_met;
        if !is_met {
            self.is_held = false;
            if self.is_open {
                self.turns.push(minute);
                self.end(host, expected);
            }
        } else if !self.is_open && !self.is_held {
            self.turns.push(minute);
            let turns = std::mem::take(&mut self.turns);
            *self = Self { is_met, is_open: true, cycle_start: minute, turns, ..Self::default() };
        }
    }

    fn end(&mut self, host: &str, expected: &mut Vec<Sent>) {
        for destination in &self.told {
            expected.push(sent(host, destination, NoticeKind::Resolved, self.cycle));
        }
        self.is_open = false;
    }

    fn pass_time(
        &mut self,
        host: &str,
        is_window: bool,
        policy: &Policy,
        minute: i64,
        expected: &mut Vec<Sent>,
    ) {
        if !self.is_open {
            return;
        }
        if self.is_muted && !is_window {
            (self.cycle, self.cycle_start) = (0, minute);
            self.done.clear();
        }
        self.is_muted = is_window;
        if is_window || self.is_acknowledged {
            return;
        }
        let delays: BTreeSet<i64> =
            policy.steps.as_slice().iter().map(|step| i64::from(step.delay_minutes)).collect();
        loop {
            if self.done.insert((self.cycle, None)) && self.cycle == 0 {
                self.tell(host, DIRECT.to_owned(), expected);
            }
            for delay in &delays {
                let is_due = self.cycle_start + delay <= minute;
                if is_due && self.done.insert((self.cycle, Some(*delay))) {
                    self.tell(host, format!("chan_{delay}"), expected);
                }
            }
            let Some(last) = delays.last() else { return };
            let repeat = policy.repeat;
            let next = self.cycle_start + last + i64::from(repeat.after_minutes.unwrap_or(0));
            let is_over = self.done.contains(&(self.cycle, Some(*last)));
            let max = repeat.max.unwrap_or(0);
            if !is_over || !repeat.enabled || self.cycle >= max || next > minute {
                return;
            }
            self.cycle += 1;
            self.cycle_start = if minute - next > 1 { minute } else { next };
        }
    }

    fn tell(&mut self, host: &str, destination: String, expected: &mut Vec<Sent>) {
        expected.push(sent(host, &destination, NoticeKind::Firing, self.cycle));
        self.told.insert(destination);
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let host = 0..HOSTS.len();
    prop_oneof![
        6 => (host.clone(), any::<bool>())
            .prop_map(|(host, is_met)| Event::Condition { host, is_met }),
        1 => host.clone().prop_map(|host| Event::Acknowledge { host }),
        1 => host.prop_map(|host| Event::Resolve { host }),
        2 => any::<bool>().prop_map(|is_active| Event::Window { is_active }),
        3 => Just(Event::Restart),
        1 => (1_i64..200).prop_map(|minutes| Event::Down { minutes }),
    ]
}

/// Events, each after some minutes.
fn any_history() -> impl Strategy<Value = Vec<(i64, Event)>> {
    prop::collection::vec((0_i64..20, any_event()), 1..30)
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let delays = prop::collection::btree_set(0_u32..15, 0..4);
    let repeat = prop::option::of((1_u32..15, 0_u32..4));
    (delays, repeat)
        .prop_map(|(delays, repeat)| policy(&delays.into_iter().collect::<Vec<_>>(), repeat))
}

fn check(policy: &Policy, history: &[(i64, Event)]) {
    let mut fixture = Fixture::new("0m", policy.clone());
    let mut models = [(); HOSTS.len()].map(|()| Model::default());
    let mut minute = 0;
    let mut is_window = false;
    for (pause, event) in history {
        for _ in 0..*pause {
            step(&fixture, policy, &mut models, minute, is_window, None);
            minute += 1;
        }
        match event {
            Event::Restart => fixture.restart(),
            Event::Down { minutes } => {
                fixture.restart();
                minute += minutes;
            }
            Event::Window { is_active } => {
                is_window = *is_active;
                let end = if is_window { TimestampMs(i64::MAX) } else { START };
                fixture.directory.set_windows([window(TimestampMs(0), end)]);
            }
            _ => {}
        }
        step(&fixture, policy, &mut models, minute, is_window, Some(*event));
        minute += 1;
    }
}

/// One minute: an event, the time, and what is sent.
fn step(
    fixture: &Fixture,
    policy: &Policy,
    models: &mut [Model; HOSTS.len()],
    minute: i64,
    is_window: bool,
    event: Option<Event>,
) {
    fixture.go_to(minute);
    let mut expected = Vec::new();
    match event {
        Some(Event::Condition { host, is_met }) if models[host].may_turn(minute) => {
            fixture.observe(HOSTS[host], is_met);
            models[host].observe(HOSTS[host], is_met, minute, &mut expected);
        }
        Some(Event::Acknowledge { host }) => acknowledge(fixture, host, models, &mut expected),
        Some(Event::Resolve { host }) if models[host].may_turn(minute) => {
            if let Some(alert) = fixture.alert_of(HOSTS[host]) {
                fixture.resolve(&alert).unwrap();
                let model = &mut models[host];
                model.end(HOSTS[host], &mut expected);
                model.is_held = model.is_met;
                assert!(fixture.resolve(&alert).is_err(), "an alert ends once");
            }
        }
        _ => {}
    }
    fixture.pass_time();
    for (host, model) in HOSTS.iter().zip(models.iter_mut()) {
        model.pass_time(host, is_window, policy, minute, &mut expected);
        let alert = fixture.alert_of(host);
        assert_eq!(alert.is_some(), model.is_open, "{host} in minute {minute}");
        if let Some(alert) = alert {
            assert_eq!(alert.muted_by.is_some(), is_window, "{host} in minute {minute}");
            let is_acknowledged = alert.status() == AlertStatus::Acknowledged;
            assert_eq!(is_acknowledged, model.is_acknowledged, "{host} in minute {minute}");
        }
    }
    expected.sort();
    assert_eq!(fixture.deliver(), expected, "minute {minute} of {policy:?}");
}

fn acknowledge(
    fixture: &Fixture,
    host: usize,
    models: &mut [Model; HOSTS.len()],
    expected: &mut Vec<Sent>,
) {
    let Some(alert) = fixture.alert_of(HOSTS[host]) else { return };
    fixture.acknowledge(&alert).unwrap();
    let model = &mut models[host];
    if !std::mem::replace(&mut model.is_acknowledged, true) && !model.is_muted {
        for destination in &model.told {
            expected.push(sent(HOSTS[host], destination, NoticeKind::Acknowledged, model.cycle));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Each due step is sent exactly once per alert, step and cycle, whatever happens between.
    #[test]
    fn each_step_is_sent_once(policy in any_policy(), history in any_history()) {
        check(&policy, &history);
    }
}
