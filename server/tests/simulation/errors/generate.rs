//! Generates the steps on errors from a seed.

use telltale_simulation::Random;

use super::steps::{NewOccurrence, Step};
use crate::MINUTE;

/// Generates the steps of one history.
pub(crate) struct Generator {
    weights: Vec<u32>,
    kinds: u64,
    next_id: u64,
}

impl Generator {
    pub(crate) fn new(random: &mut Random) -> Self {
        // Weights of: report, again, resolve, ignore, unresolve, assign, merge, delete, store,
        // delete events, trim.
        let usual = [24, 5, 4, 2, 1, 2, 3, 2, 6, 2, 1];
        let weights = usual.map(|weight| if random.percent(12) { 0 } else { weight });
        let weights = weights.map(|weight| if random.percent(12) { weight * 4 } else { weight });
        let mut weights = weights.to_vec();
        weights[0] = weights[0].max(12);
        Self { weights, kinds: *random.pick(&[2, 5, 5, 9]), next_id: 1 }
    }

    pub(crate) fn step(&mut self, random: &mut Random) -> Step {
        let kind = random.below(self.kinds) as u8;
        let other = random.below(self.kinds) as u8;
        match random.weighted(&self.weights) {
            0 => {
                let count = *random.pick(&[1, 1, 1, 2, 5, 20]);
                Step::Report((0..count).map(|_| self.new_occurrence(random)).collect())
            }
            1 => Step::Again(random.number() >> 16),
            2 => Step::Resolve(kind),
            3 => Step::Ignore(kind, random.percent(60).then(|| random.range(0..10 * MINUTE))),
            4 => Step::Unresolve(kind),
            5 => Step::Assign(kind, other),
            6 => Step::Merge(kind, other),
            7 => Step::Delete(kind),
            8 => Step::Store,
            9 => Step::DeleteEvents,
            _ => Step::Trim,
        }
    }

    fn new_occurrence(&mut self, random: &mut Random) -> NewOccurrence {
        let id = self.next_id;
        self.next_id += 1;
        NewOccurrence {
            id,
            kind: random.below(self.kinds) as u8,
            user: random.below(6) as u8,
            age: if random.percent(80) { 0 } else { random.range(0..30 * MINUTE) },
            by_sdk: random.percent(60),
        }
    }
}
