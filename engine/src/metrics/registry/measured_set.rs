//! A set of series that knows how much memory it takes, so that asking does not walk it.
//!
//! A bitmap is a list of containers, one for each 65 536 ids that have members: a sorted array, a bit set of 8 KiB, or runs. Measuring
//! looks at every container, and in a bit set for its last member, so it costs as much as there are bytes, at most. Changes of whole sets
//! measure anew, which costs less than the change. Changes of single series measure anew after as many of them as the set has times
//! [`BYTES_PER_CHANGE`], so that each pays for so many bytes on average: small sets are measured after every change, and the size of a
//! large one is that of the last measure until then.
//!
//! Arrays keep their capacity when series are removed: once most of it is unused, the set is copied, which gives it back.

use std::ops::{BitOrAssign, Deref, SubAssign};

use roaring::RoaringBitmap;

/// Bytes of a container in the list of a bitmap.
const CONTAINER_BYTES: usize = 40;
/// The least number of containers that a list has room for.
const CONTAINERS_MIN: u32 = 4;
/// Bytes of a bit set.
const BIT_SET_BYTES: usize = 8 << 10;
/// Bytes of a set for each change that it waits for until it is measured.
const BYTES_PER_CHANGE: usize = 4 << 10;
/// Places of arrays that may be unused for each one that is used, and for each container.
const SPARE_PER_MEMBER: u64 = 3;
const SPARE_PER_CONTAINER: u64 = 32;

/// A set of series that knows its size in memory. It is read as the bitmap that it is.
#[derive(Clone, Debug, Default)]
pub(super) struct MeasuredSet {
    set: RoaringBitmap,
    /// As of the last measure.
    bytes: usize,
    /// Changes of single series since the last measure.
    unmeasured: usize,
}

impl MeasuredSet {
    /// Adds a series; false when it is there.
    pub(super) fn insert(&mut self, series: u32) -> bool {
        let added = self.set.insert(series);
        self.changed(added);
        added
    }

    /// Removes a series; false when it is not there.
    pub(super) fn remove(&mut self, series: u32) -> bool {
        let removed = self.set.remove(series);
        if let Some(measure) = self.changed(removed) {
            self.trim(&measure);
        }
        removed
    }

    /// Removes all series.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bitmap.
    pub(super) fn into_bitmap(self) -> RoaringBitmap {
        self.set
    }

    /// Measures if it is time to.
    fn changed(&mut self, changed: bool) -> Option<Measure> {
        self.unmeasured += usize::from(changed);
        let is_due = self.unmeasured >= (self.bytes / BYTES_PER_CHANGE).max(1);
        is_due.then(|| self.measure())
    }

    fn measure(&mut self) -> Measure {
        let measure = measure(&self.set);
        (self.bytes, self.unmeasured) = (measure.bytes, 0);
        measure
    }

    /// Gives memory back when most of it is not used any more.
    fn trim(&mut self, &Measure { spare, members, containers, .. }: &Measure) {
        if spare > SPARE_PER_MEMBER * members + SPARE_PER_CONTAINER * u64::from(containers) {
            self.set = self.set.clone();
            self.measure();
        }
    }
}

impl Deref for MeasuredSet {
    type Target = RoaringBitmap;

    fn deref(&self) -> &RoaringBitmap {
        &self.set
    }
}

impl From<RoaringBitmap> for MeasuredSet {
    fn from(set: RoaringBitmap) -> Self {
        let bytes = measure(&set).bytes;
        Self { set, bytes, unmeasured: 0 }
    }
}

impl BitOrAssign<&RoaringBitmap> for MeasuredSet {
    fn bitor_assign(&mut self, other: &RoaringBitmap) {
        self.set |= other;
        self.measure();
    }
}

impl SubAssign<&RoaringBitmap> for MeasuredSet {
    fn sub_assign(&mut self, other: &RoaringBitmap) {
        self.set -= other;
        let measure = self.measure();
        self.trim(&measure);
    }
}

/// Bytes on the heap of a bitmap: capacities of its arrays, and a list of containers that has grown by doubling.
pub(super) fn bitmap_bytes(set: &RoaringBitmap) -> usize {
    measure(set).bytes
}

/// What a look at all containers comes to.
#[derive(Default)]
struct Measure {
    bytes: usize,
    containers: u32,
    /// Members of arrays, and places for more of them.
    members: u64,
    spare: u64,
}

fn measure(set: &RoaringBitmap) -> Measure {
    let statistics = set.statistics();
    let containers = statistics.n_containers;
    if containers == 0 {
        return Measure::default();
    }
    let list = containers.next_power_of_two().max(CONTAINERS_MIN) as usize * CONTAINER_BYTES;
    // The crate counts four bytes for each place of an array, of which each takes two.
    let places = statistics.n_bytes_array_containers / 4;
    let bit_sets = statistics.n_bitset_containers as usize * BIT_SET_BYTES;
    let runs = statistics.n_bytes_run_containers as usize;
    let members = u64::from(statistics.n_values_array_containers);
    let bytes = list + places as usize * 2 + bit_sets + runs;
    Measure { bytes, containers, members, spare: places.saturating_sub(members) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_takes_its_capacities() {
        let mut set = MeasuredSet::default();
        assert_eq!(set.bytes(), 0);
        set.insert(7);
        // Four places in the list of containers, four of two bytes in the array.
        assert_eq!(set.bytes(), 4 * 40 + 4 * 2);
        (0..4_096).for_each(|series| _ = set.insert(series));
        assert_eq!(set.bytes(), 4 * 40 + 4_096 * 2);
        (0..10_000).for_each(|series| _ = set.insert(series));
        assert_eq!(set.bytes(), 4 * 40 + (8 << 10));
        (1..10_000).for_each(|series| _ = set.remove(series));
        assert!(set.bytes() < 1_000 && set.len() == 1);
        set.remove(0);
        assert_eq!(set.bytes(), 0);
    }

    #[test]
    fn a_large_set_is_known_within_a_twentieth() {
        let mut set = MeasuredSet::default();
        // Every 101st id, in 300 containers; then others among them, in an order of no meaning.
        let ids = (0..200_000u32).map(|n| n * 101);
        let mixed = (0..200_000u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 7);
        for (step, id) in ids.chain(mixed).enumerate() {
            set.insert(id);
            if step % 3 == 0 {
                set.remove(id / 2);
            }
            if step % 997 == 0 {
                let (told, is) = (set.bytes() as f64, bitmap_bytes(&set) as f64);
                assert!((told - is).abs() <= is / 20.0, "{told} of {is} after {step} steps");
            }
        }
        assert!(set.bytes() > 16 * BYTES_PER_CHANGE);
        let all = RoaringBitmap::clone(&set);
        set -= &all;
        assert_eq!((set.bytes(), set.len()), (0, 0));
        set |= &all;
        assert_eq!(set.bytes(), bitmap_bytes(&set));
    }
}
