//! A set of series that tracks its memory, so that reading its size does not walk it.
//!
//! A bitmap is a list of containers, one for each range of 65 536 ids that has members: a sorted
//! array, a bit set of 8 KiB, or runs. Measuring visits every container, and in a bit set searches
//! for its last member, so its cost is at most proportional to the bytes. Changes of whole sets
//! measure immediately, which costs less than the change itself. Changes of single series are
//! counted, and the set is measured after one change for each [`BYTES_PER_CHANGE`] of its bytes,
//! which bounds the average cost per change. Small sets are therefore measured after every change;
//! the reported size of a large set is that of its last measurement.
//!
//! Arrays keep their capacity when series are removed: once most of it is unused, the set is
//! copied, which releases it.

use std::ops::{BitOrAssign, Deref, SubAssign};

use roaring::RoaringBitmap;

/// Bytes of a container entry in the list of a bitmap.
const CONTAINER_BYTES: usize = 40;
/// Minimum capacity of the list of containers.
const CONTAINERS_MIN: u32 = 4;
/// Bytes of a bit set.
const BIT_SET_BYTES: usize = 8 << 10;
/// A set is measured after one change for each of this many bytes.
const BYTES_PER_CHANGE: usize = 4 << 10;
/// Array slots that may be unused for each member and for each container.
const SPARE_PER_MEMBER: u64 = 3;
const SPARE_PER_CONTAINER: u64 = 32;

/// A set of series that tracks its size in memory. Dereferences to the bitmap for reading.
#[derive(Clone, Debug, Default)]
pub(super) struct MeasuredSet {
    set: RoaringBitmap,
    /// As of the last measurement.
    bytes: usize,
    /// Changes of single series since the last measurement.
    unmeasured: usize,
}

impl MeasuredSet {
    /// Adds a series. Returns false if it is present.
    pub(super) fn insert(&mut self, series: u32) -> bool {
        let added = self.set.insert(series);
        self.count_change(added);
        added
    }

    /// Adds a series, usually the last one, without measuring. [`Self::measure`] has to follow.
    pub(super) fn append(&mut self, series: u32) {
        if self.set.try_push(series).is_err() {
            self.set.insert(series);
        }
    }

    /// Removes a series. Returns false if it is absent.
    pub(super) fn remove(&mut self, series: u32) -> bool {
        let removed = self.set.remove(series);
        if let Some(measure) = self.count_change(removed) {
            self.trim(&measure);
        }
        removed
    }

    /// Removes all series.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the bytes on the heap, as of the last measurement.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bitmap.
    pub(super) fn into_bitmap(self) -> RoaringBitmap {
        self.set
    }

    /// Measures the set if a measurement is due.
    fn count_change(&mut self, is_changed: bool) -> Option<Measurement> {
        self.unmeasured += usize::from(is_changed);
        let is_due = self.unmeasured >= (self.bytes / BYTES_PER_CHANGE).max(1);
        is_due.then(|| self.measure())
    }

    /// Measures the set now.
    pub(super) fn measure(&mut self) -> Measurement {
        let measure = measure(&self.set);
        (self.bytes, self.unmeasured) = (measure.bytes, 0);
        measure
    }

    /// Releases memory when most of it is unused.
    fn trim(&mut self, &Measurement { spare, members, containers, .. }: &Measurement) {
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

/// Returns the bytes of a bitmap on the heap: the capacities of its arrays, and a list of
/// containers that has grown by doubling.
pub(super) fn bitmap_bytes(set: &RoaringBitmap) -> usize {
    measure(set).bytes
}

/// The result of measuring all containers.
#[derive(Default)]
pub(super) struct Measurement {
    bytes: usize,
    containers: u32,
    /// Members of arrays, and unused slots of arrays.
    members: u64,
    spare: u64,
}

fn measure(set: &RoaringBitmap) -> Measurement {
    let statistics = set.statistics();
    let containers = statistics.n_containers;
    if containers == 0 {
        return Measurement::default();
    }
    let list = containers.next_power_of_two().max(CONTAINERS_MIN) as usize * CONTAINER_BYTES;
    // The crate counts four bytes per array slot, of which each takes two.
    let slots = statistics.n_bytes_array_containers / 4;
    let bit_sets = statistics.n_bitset_containers as usize * BIT_SET_BYTES;
    let runs = statistics.n_bytes_run_containers as usize;
    let members = u64::from(statistics.n_values_array_containers);
    let bytes = list + slots as usize * 2 + bit_sets + runs;
    Measurement { bytes, containers, members, spare: slots.saturating_sub(members) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_set_is_that_of_its_capacities() {
        let mut set = MeasuredSet::default();
        assert_eq!(set.bytes(), 0);
        set.insert(7);
        // Four entries in the list of containers, four slots of two bytes in the array.
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
    fn the_size_of_a_large_set_is_accurate_within_a_twentieth() {
        let mut set = MeasuredSet::default();
        // Every 101st id, in 300 containers, then other ids between them in scrambled order.
        let ids = (0..200_000u32).map(|n| n * 101);
        let mixed = (0..200_000u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 7);
        for (step, id) in ids.chain(mixed).enumerate() {
            set.insert(id);
            if step % 3 == 0 {
                set.remove(id / 2);
            }
            if step % 997 == 0 {
                let (reported, actual) = (set.bytes() as f64, bitmap_bytes(&set) as f64);
                assert!(
                    (reported - actual).abs() <= actual / 20.0,
                    "{reported} of {actual} after {step} steps"
                );
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
