//! Which events are counted: by their numbers, which rise in the order in which events are admitted, not in that in which
//! they become durable.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::GroupId;

/// Which events are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) struct Mark {
    /// All events with a number up to this are counted, or will never be durable.
    pub(in crate::areas::errors) through: u64,
    /// Those above that are counted too, ascending.
    pub(in crate::areas::errors) beyond: Vec<u64>,
}

/// The numbers of events on their way and behind it.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Those that are not durable yet, with their groups.
    in_flight: BTreeMap<u64, GroupId>,
    /// Those that are counted, above [`Self::through`].
    counted: BTreeSet<u64>,
    /// The greatest that is not in flight any more.
    greatest: u64,
}

impl Numbers {
    /// StartTime where a mark ends.
    pub(super) fn new(mark: &Mark) -> Self {
        let counted: BTreeSet<u64> = mark.beyond.iter().copied().collect();
        Self { in_flight: BTreeMap::new(), counted, greatest: mark.greatest() }
    }

    /// An event of this group is on its way.
    pub(super) fn begin(&mut self, number: u64, group: GroupId) {
        self.in_flight.insert(number, group);
    }

    /// An event is durable and counted.
    pub(super) fn count(&mut self, number: u64) {
        self.counted.insert(number);
        self.end(number);
    }

    /// An event was not stored.
    pub(super) fn end(&mut self, number: u64) {
        self.in_flight.remove(&number);
        self.greatest = self.greatest.max(number);
    }

    /// Whether no event is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether an event of this group is on its way.
    pub(super) fn awaits(&self, group: GroupId) -> bool {
        self.in_flight.values().any(|on_its_way| *on_its_way == group)
    }

    /// What is counted now. Forgets numbers that the mark need not name.
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
    /// The mark that counts every event up to this one.
    pub(super) fn through(through: u64) -> Self {
        Self { through, beyond: Vec::new() }
    }

    /// The greatest number that it counts.
    pub(super) fn greatest(&self) -> u64 {
        self.beyond.last().copied().unwrap_or(0).max(self.through)
    }

    /// Whether the event with this number is counted.
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
    fn a_mark_waits_for_those_that_began_earlier() {
        let mut numbers = Numbers::default();
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
        assert!(!numbers.awaits(G));
    }

    #[test]
    fn numbers_go_on_where_a_mark_ends() {
        let mark = Mark { through: 90, beyond: vec![95, 101] };
        assert_eq!(mark.greatest(), 101);
        let mut numbers = Numbers::new(&mark);
        assert_eq!(numbers.mark(), Mark { through: 101, beyond: vec![] });
    }

    proptest! {
        /// Whatever order events end in, a mark counts exactly those that were counted, of all that had begun.
        #[test]
        fn a_mark_counts_what_was_counted(steps in prop::collection::vec((0_usize..8, any::<bool>(), any::<bool>()), 1..200)) {
            let (mut numbers, mut open, mut counted, mut next) = (Numbers::default(), Vec::new(), BTreeSet::new(), 1);
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
