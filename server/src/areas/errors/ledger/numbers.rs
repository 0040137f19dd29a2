//! Tracks which events are counted, by their numbers. Events are numbered in the order of
//! admission, and become durable in another order.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::GroupId;

/// A compact description of the events that are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) struct Mark {
    /// All events numbered up to this are counted, or will never be durable.
    pub(in crate::areas::errors) through: u64,
    /// Numbers above `through` that are counted too, ascending.
    pub(in crate::areas::errors) beyond: Vec<u64>,
}

/// The numbers of events in flight, and of counted ones that the mark must list.
#[derive(Debug, Default)]
pub(super) struct EventNumbers {
    /// Numbers of events that are not durable yet, with their groups.
    in_flight: BTreeMap<u64, GroupId>,
    /// Numbers that are counted, above [`Mark::through`].
    counted: BTreeSet<u64>,
    /// The greatest number that is no longer in flight.
    greatest: u64,
}

impl EventNumbers {
    /// Continues after a mark.
    pub(super) fn new(mark: &Mark) -> Self {
        let counted: BTreeSet<u64> = mark.beyond.iter().copied().collect();
        Self { in_flight: BTreeMap::new(), counted, greatest: mark.greatest() }
    }

    /// Records that an event of this group is in flight.
    pub(super) fn begin(&mut self, number: u64, group: GroupId) {
        self.in_flight.insert(number, group);
    }

    /// Records that an event is durable and counted.
    pub(super) fn count(&mut self, number: u64) {
        self.counted.insert(number);
        self.end(number);
    }

    /// Records that an event was not stored.
    pub(super) fn end(&mut self, number: u64) {
        self.in_flight.remove(&number);
        self.greatest = self.greatest.max(number);
    }

    /// Returns whether no event is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns whether an event of this group is in flight.
    pub(super) fn has_in_flight(&self, group: GroupId) -> bool {
        self.in_flight.values().any(|in_flight| *in_flight == group)
    }

    /// Returns the current mark, and forgets the numbers below it.
    pub(super) fn mark(&mut self) -> Mark {
        let through = match self.in_flight.first_key_value() {
            Some((first, _)) => first.saturating_sub(1).min(self.greatest),
            None => self.greatest,
        };
        self.counted = self.counted.split_off(&through.saturating_add(1));
        Mark { through, beyond: self.counted.iter().copied().collect() }
    }
}

impl Mark {
    /// Returns the mark that includes all events up to this number.
    pub(super) fn through(through: u64) -> Self {
        Self { through, beyond: Vec::new() }
    }

    /// Returns the greatest number that it includes.
    pub(super) fn greatest(&self) -> u64 {
        self.beyond.last().copied().unwrap_or(0).max(self.through)
    }

    /// Returns whether it includes the event with this number.
    pub(super) fn counts(&self, number: u64) -> bool {
        number <= self.through || self.beyond.binary_search(&number).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const G: GroupId = GroupId(1);

    #[test]
    fn a_mark_does_not_pass_events_in_flight() {
        let mut numbers = EventNumbers::default();
        for number in [5, 6, 8, 9] {
            numbers.begin(number, G);
        }
        numbers.count(6);
        numbers.count(9);
        assert_eq!(numbers.mark(), Mark { through: 4, beyond: vec![6, 9] });
        numbers.end(5);
        assert_eq!(numbers.mark(), Mark { through: 7, beyond: vec![9] });
        numbers.count(8);
        assert_eq!(numbers.mark(), Mark { through: 9, beyond: vec![] });
        assert!(!numbers.has_in_flight(G));
    }

    #[test]
    fn numbers_continue_after_a_mark() {
        let mark = Mark { through: 90, beyond: vec![95, 101] };
        assert_eq!(mark.greatest(), 101);
        let mut numbers = EventNumbers::new(&mark);
        assert_eq!(numbers.mark(), Mark { through: 101, beyond: vec![] });
    }

    proptest! {
        /// In whatever order events complete, a mark includes exactly those that were counted.
        #[test]
        fn a_mark_includes_exactly_the_counted_events(steps in prop::collection::vec((0_usize..8, any::<bool>(), any::<bool>()), 1..200)) {
            let (mut numbers, mut open, mut counted, mut next) = (EventNumbers::default(), Vec::new(), BTreeSet::new(), 1);
            for (pick, begins, fails) in steps {
                if begins || open.is_empty() {
                    numbers.begin(next, G);
                    open.push(next);
                    next += 1;
                } else {
                    let number = open.swap_remove(pick % open.len());
                    if fails {
                        numbers.end(number);
                    } else {
                        numbers.count(number);
                        counted.insert(number);
                    }
                }
                let mark = numbers.mark();
                for number in 1..next {
                    if counted.contains(&number) {
                        prop_assert!(mark.counts(number), "{number} of {mark:?}");
                    }
                    if open.contains(&number) {
                        prop_assert!(!mark.counts(number), "{number} of {mark:?}");
                    }
                }
            }
        }
    }
}
