//! The number of distinct members of a set: exact up to [`EXACT_MEMBERS_MAX`], by HyperLogLog
//! beyond.
//!
//! A member is represented by its 64-bit xxh3 hash. While there are few, the hashes themselves are
//! stored, sorted. With the next distinct one they move into [`Registers`]. The form depends only
//! on the number of distinct members, so merging sets and building one from all their members give
//! the same state and the same bytes.
//!
//! Stored form; the checksum is that of the enclosing frame:
//!
//! ```text
//! ┌────────────┬─────────┬───────────┬──────────────────────────┐
//! │ version: 1 │ form: 0 │ n: varint │ n × u64 LE, ascending    │  the hashes
//! ├────────────┼─────────┼───────────┴──────────────────────────┤
//! │ version: 1 │ form: 1 │ registers, listed                    │  see super::registers;
//! ├────────────┼─────────┼──────────────────────────────────────┤
//! │ version: 1 │ form: 2 │ registers, packed                    │  at most 12 290 bytes in all
//! └────────────┴─────────┴──────────────────────────────────────┘
//! ```

use xxhash_rust::xxh3::xxh3_64;

use super::registers::Registers;
use super::{SketchError, SketchResult};
use crate::cast::natural_part;
use crate::codec::bytes::{Reader, put_varint, varint_bytes};
use crate::limits::EXACT_MEMBERS_MAX;

const VERSION: u8 = 1;
const FORM_EXACT: u8 = 0;
const FORM_LISTED: u8 = 1;
const FORM_PACKED: u8 = 2;

/// Returns the hash of a member. Hashes are on disk, so the function never changes.
pub(crate) fn hash_member(member: &str) -> u64 {
    xxh3_64(member.as_bytes())
}

/// A set that counts its distinct members. Members cannot be removed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cardinality(Members);

#[derive(Clone, Debug, PartialEq)]
enum Members {
    /// Strictly ascending, at most [`EXACT_MEMBERS_MAX`].
    Exact(Vec<u64>),
    Dense(Registers),
}

impl Default for Cardinality {
    fn default() -> Self {
        Self(Members::Exact(Vec::new()))
    }
}

impl Cardinality {
    /// The most bytes of the stored form: version, form and packed registers, which take more than
    /// the most exact hashes.
    pub(crate) const STORED_BYTES_MAX: usize = 2 + Registers::STORED_BYTES_MAX;

    /// Adds a member by its hash. Returns whether the set changed.
    #[inline]
    pub(crate) fn insert_hash(&mut self, hash: u64) -> bool {
        match &mut self.0 {
            Members::Dense(registers) => registers.insert(hash),
            Members::Exact(hashes) => {
                let Err(at) = hashes.binary_search(&hash) else { return false };
                hashes.insert(at, hash);
                self.convert_to_registers_if_large();
                true
            }
        }
    }

    /// Adds all members of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        match &other.0 {
            Members::Exact(hashes) => self.insert_sorted(hashes),
            Members::Dense(registers) => self.registers().merge(registers),
        }
    }

    /// Returns the number of distinct members; an estimate is rounded to an integer.
    pub(crate) fn count(&self) -> u64 {
        match &self.0 {
            Members::Exact(hashes) => hashes.len() as u64,
            // An estimate below the exact limit is wrong: more members were added.
            Members::Dense(registers) => {
                natural_part(registers.estimate().round()).max(EXACT_MEMBERS_MAX as u64 + 1)
            }
        }
    }

    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let members = match &self.0 {
            Members::Exact(hashes) => hashes.capacity() * size_of::<u64>(),
            Members::Dense(_) => Registers::BYTES,
        };
        size_of::<Self>() + members
    }

    /// Returns the size of the stored form in bytes.
    pub(crate) fn stored_bytes(&self) -> usize {
        let members = match &self.0 {
            Members::Exact(hashes) => varint_bytes(hashes.len()) + size_of_val(hashes.as_slice()),
            Members::Dense(registers) => registers.stored_bytes(),
        };
        2 + members
    }

    /// Appends the stored form to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        match &self.0 {
            Members::Exact(hashes) => {
                out.push(FORM_EXACT);
                put_varint(out, hashes.len() as u64);
                for hash in hashes {
                    out.extend_from_slice(&hash.to_le_bytes());
                }
            }
            Members::Dense(registers) => {
                out.push(if registers.is_listed() { FORM_LISTED } else { FORM_PACKED });
                registers.encode(out);
            }
        }
    }

    /// Decodes the stored form, which must end with `bytes`.
    pub(crate) fn decode(bytes: &[u8]) -> SketchResult<Self> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(SketchError::Version(version));
        }
        let members = match reader.u8()? {
            FORM_EXACT => Members::Exact(take_hashes(&mut reader)?),
            FORM_LISTED => Members::Dense(Registers::decode_listed(&mut reader)?),
            FORM_PACKED => Members::Dense(Registers::decode_packed(&mut reader)?),
            _ => return Err(SketchError::Inconsistent("unknown encoding of a set")),
        };
        reader.finish()?;
        Ok(Self(members))
    }

    fn insert_sorted(&mut self, theirs: &[u64]) {
        match &mut self.0 {
            Members::Dense(registers) => theirs.iter().for_each(|&hash| _ = registers.insert(hash)),
            Members::Exact(ours) => {
                *ours = union(ours, theirs);
                self.convert_to_registers_if_large();
            }
        }
    }

    fn convert_to_registers_if_large(&mut self) {
        if let Members::Exact(hashes) = &self.0
            && hashes.len() > EXACT_MEMBERS_MAX
        {
            self.registers();
        }
    }

    /// Returns the registers, moving exactly stored hashes into them first.
    fn registers(&mut self) -> &mut Registers {
        if let Members::Exact(hashes) = &self.0 {
            let mut registers = Registers::default();
            hashes.iter().for_each(|&hash| _ = registers.insert(hash));
            self.0 = Members::Dense(registers);
        }
        match &mut self.0 {
            Members::Dense(registers) => registers,
            Members::Exact(_) => unreachable!("the hashes were just moved into registers"),
        }
    }
}

/// Returns the union of two ascending lists.
fn union(mut a: &[u64], mut b: &[u64]) -> Vec<u64> {
    let mut union = Vec::with_capacity(a.len() + b.len());
    while let (Some((&x, rest_a)), Some((&y, rest_b))) = (a.split_first(), b.split_first()) {
        union.push(x.min(y));
        if x <= y {
            a = rest_a;
        }
        if y <= x {
            b = rest_b;
        }
    }
    union.extend_from_slice(a);
    union.extend_from_slice(b);
    union
}

fn take_hashes(reader: &mut Reader<'_>) -> SketchResult<Vec<u64>> {
    let n = reader.count("members", EXACT_MEMBERS_MAX)?;
    let bytes = reader.take(n * size_of::<u64>())?;
    let hashes: Vec<u64> =
        bytes.as_chunks().0.iter().map(|&hash| u64::from_le_bytes(hash)).collect();
    if hashes.is_sorted_by(|a, b| a < b) {
        Ok(hashes)
    } else {
        Err(SketchError::Inconsistent("members are not ascending"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hashes numbers (SplitMix64), each to a distinct hash.
    fn hash_of(number: u64) -> u64 {
        let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn of(numbers: impl IntoIterator<Item = u64>) -> Cardinality {
        let mut set = Cardinality::default();
        numbers.into_iter().for_each(|number| _ = set.insert_hash(hash_of(number)));
        set
    }

    fn encoded(set: &Cardinality) -> Vec<u8> {
        let mut out = Vec::new();
        set.encode(&mut out);
        out
    }

    #[test]
    fn hashes_of_members_do_not_change() {
        assert_eq!(hash_member(""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash_member("user-1"), 0x7c76_15c1_1438_e5c9);
    }

    #[test]
    fn counts_are_exact_up_to_the_limit() {
        assert_eq!(Cardinality::default().count(), 0);
        let mut set = of((0..1_000).chain(0..1_000));
        assert_eq!(set.count(), 1_000);
        set.insert_hash(hash_of(5));
        assert_eq!(set.count(), 1_000);
        assert!(matches!(set.0, Members::Exact(_)));
        assert!(!set.insert_hash(hash_of(5)) && set.insert_hash(hash_of(1_000)));
        assert!(matches!(set.0, Members::Dense(_)));
        assert!(set.count() > 1_000);
    }

    #[test]
    fn estimates_stay_within_four_standard_errors() {
        let mut set = Cardinality::default();
        let mut members = 0u64;
        for n in [1_001, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 300_000] {
            (members..n).for_each(|i| _ = set.insert_hash(hash_member(&format!("user-{i}"))));
            members = n;
            let error = (set.count() as f64 - n as f64).abs() / n as f64;
            assert!(error < 4.0 * 0.0082, "{} for {n}", set.count());
        }
    }

    #[test]
    fn the_stored_form_does_not_change() {
        assert_eq!(encoded(&Cardinality::default()), [1, 0, 0]);
        let mut two = Cardinality::default();
        two.insert_hash(0x0102_0304_0506_0708);
        two.insert_hash(3);
        let expected =
            [1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01];
        assert_eq!(encoded(&two), expected);

        // All are of register 0; the first one-bit is the 38th after the index bits.
        let mut listed = Cardinality::default();
        (0..=1_000).for_each(|i| _ = listed.insert_hash(0x1000 | i));
        assert_eq!(encoded(&listed), [1, 1, 1, 0, 38]);
        assert_eq!(encoded(&of(0..6_000))[..2], [1, 2]);
        assert_eq!(encoded(&of(0..6_000)).len(), 12_290);
    }

    #[test]
    fn inconsistent_bytes_are_refused() {
        let refused = |bytes: &[u8]| {
            assert!(Cardinality::decode(bytes).is_err(), "{bytes:?}");
        };
        refused(&[]);
        refused(&[2, 0, 0]);
        refused(&[1, 3, 0]);
        refused(&[1, 0, 0, 0]);
        refused(&[1, 0, 1, 9]);
        let twice = [&[1u8, 0, 2][..], &[7; 16]].concat();
        refused(&twice);
        refused(&[&[1u8, 0, 2][..], &[7; 8], &[6; 8]].concat());
        refused(&[&[1u8, 0, 0xe9, 0x07][..], &[0; 8_008]].concat());
        refused(&[1, 1, 0]);
        refused(&[1, 1, 1, 3, 1, 0]);
        refused(&[&[1u8, 2][..], &[0; 12_288]].concat());
        refused(&[&[1u8, 2][..], &[0x41; 12_289]].concat());
    }

    /// Generates ranges of numbers whose unions are on both sides of all limits.
    fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let len = prop_oneof![0..20u64, 300..1_100u64, 990..1_010u64, 3_000..9_000u64];
        proptest::collection::vec((0..3_000u64, len), 1..4)
    }

    #[test]
    fn more_exact_members_than_the_limit_are_refused() {
        let read = |members: usize| {
            let mut bytes = vec![VERSION, FORM_EXACT];
            put_varint(&mut bytes, members as u64);
            (0..members as u64).for_each(|hash| bytes.extend_from_slice(&hash.to_le_bytes()));
            Cardinality::decode(&bytes).map(|set| set.count()).ok()
        };
        assert_eq!(read(EXACT_MEMBERS_MAX), Some(EXACT_MEMBERS_MAX as u64));
        assert_eq!(read(EXACT_MEMBERS_MAX + 1), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn merged_sets_equal_one_of_all_members(ranges in ranges()) {
            let members = |&(from, len): &(u64, u64)| from..from + len;
            let whole = of(ranges.iter().flat_map(members));
            let descending = of(ranges.iter().flat_map(members).collect::<Vec<_>>().into_iter().rev());
            let mut merged = Cardinality::default();
            let mut from_bytes = Cardinality::default();
            for range in ranges.iter().rev() {
                merged.merge(&of(members(range)));
                from_bytes.merge(&Cardinality::decode(&encoded(&of(members(range)))).unwrap());
            }
            let bytes = encoded(&whole);
            prop_assert!(bytes.len() <= 12_290);
            prop_assert_eq!(encoded(&descending), bytes.clone());
            prop_assert_eq!(encoded(&merged), bytes.clone());
            prop_assert_eq!(encoded(&from_bytes), bytes.clone());
            prop_assert_eq!(encoded(&Cardinality::decode(&bytes).unwrap()), bytes);
            prop_assert_eq!(merged.count(), whole.count());
        }

        #[test]
        fn corrupt_bytes_never_cause_a_panic(
            range in ranges(),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = encoded(&of(range.iter().flat_map(|&(from, len)| from..from + len)));
            let len = cut.index(bytes.len());
            prop_assert!(Cardinality::decode(&bytes[..len]).is_err());
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(read) = Cardinality::decode(&bytes) {
                let copy = encoded(&read);
                prop_assert_eq!(encoded(&Cardinality::decode(&copy).unwrap()), copy);
                prop_assert!(read.count() < u64::MAX);
            }
        }

        #[test]
        fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for start in [&[][..], &[VERSION, FORM_EXACT], &[VERSION, FORM_LISTED], &[VERSION, FORM_PACKED]] {
                if let Ok(read) = Cardinality::decode(&[start, &bytes].concat()) {
                    prop_assert!(!encoded(&read).is_empty());
                }
            }
        }
    }
}
