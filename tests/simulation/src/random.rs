//! Pseudo-random numbers from a seed.

/// A random number generator (SplitMix64): equal seeds give equal numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or zero if `end` is zero.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number in the range.
    pub fn range(&mut self, range: std::ops::Range<i64>) -> i64 {
        let length = range.end.saturating_sub(range.start).max(0);
        range.start.saturating_add(self.below(length.unsigned_abs()).cast_signed())
    }

    /// Returns an index into a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns true with a probability of `percent` in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns one of the elements.
    ///
    /// # Panics If there are none.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        assert!(!of.is_empty(), "there is nothing to choose from");
        &of[self.index(of.len())]
    }

    /// Returns the index of one of these weights, with a probability proportional to it.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.below(weights.iter().map(|w| u64::from(*w)).sum());
        for (at, weight) in weights.iter().enumerate() {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return at,
            }
        }
        0
    }

    /// Returns an independent generator, whose use does not change the numbers of this one.
    pub fn fork(&mut self) -> Self {
        Self(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_numbers_and_they_stay_in_range() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.range(-5..5)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert!(numbers(9).iter().all(|n| (-5..5).contains(n)));
        assert!((-5..5).all(|n| numbers(9).contains(&n)));
        let mut random = Random::new(1);
        let mut drawn = [0; 3];
        (0..1_000).for_each(|_| drawn[random.weighted(&[1, 0, 3])] += 1);
        assert!(drawn[0] > 150 && drawn[1] == 0 && drawn[2] > 600, "{drawn:?}");
    }
}
