//! The cost of n·log n on this machine: a map of as many entries is filled and read. Beyond the
//! caches of the CPU, its time per entry grows several times faster than the logarithm, as it does
//! for all other lookups.

use std::collections::BTreeMap;

use crate::cpu;
use crate::fit::Growth;

/// Bytes of an entry besides its key, about those of a database row.
const ENTRY_BYTES: usize = 200;
/// Repetitions, of which the shortest time counts: other programs may use the caches.
const ROUNDS: usize = 3;

/// Returns the growth of a map over the same sizes.
pub(crate) fn growth(sizes: &[usize]) -> Growth {
    let round = |size: usize| {
        let before = cpu::seconds();
        fill_and_read(size);
        cpu::seconds() - before
    };
    let least = |size: usize| (0..ROUNDS).map(|_| round(size)).fold(f64::INFINITY, f64::min);
    let times: Vec<(usize, f64)> = sizes.iter().map(|size| (*size, least(*size))).collect();
    Growth::of(&times)
}

/// Fills a map in random order, like that of hashes, and looks up each entry.
fn fill_and_read(size: usize) {
    let keys = || (0..size as u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32));
    let mut map: BTreeMap<u64, Box<[u8]>> = BTreeMap::new();
    for key in keys() {
        map.insert(key, vec![key as u8; ENTRY_BYTES].into_boxed_slice());
    }
    let found = keys().filter(|key| map.get(key).is_some_and(|entry| entry[0] == *key as u8));
    assert_eq!(found.count(), size);
}
