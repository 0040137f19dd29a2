//! The registers of a HyperLogLog sketch of precision 14, which represents a large set in 16 KB.
//!
//! The first 14 bits of a member's hash select one of 2^14 registers; the register stores the
//! highest *rank* seen, which is the position of the first one-bit among the other 50 bits, or 51
//! when there is none. Ranks only increase, so the registers depend only on the set of members, and
//! merging takes the maximum of each register.
//!
//! The registers are implemented here, because their bytes are on disk: the crate
//! `hyperloglogplus` serializes a `HashSet` in random order, and its merge takes eighty times as
//! long as one over plain bytes. The estimate is that of the crate, with its bias correction; the
//! standard error is 1.04 / √2^14 = 0.81 %. It depends only on how many registers have which rank,
//! not on their positions. Most small sets therefore need no sketch of the crate, only the number
//! of zero registers (linear counting), and large ones only the number of registers of each rank.
//! Between them, where a bias is corrected, the registers are moved into a sketch of the crate
//! through its public API, by a synthetic hash for each of them. See
//! `docs/decisions/0011-registers-are-ours.md`.
//!
//! There are two stored forms; the number of nonzero registers determines which is used:
//!
//! ```text
//! listed  ┌───────────┬──────────────────────────────────────────────┐  up to LISTED_MAX:
//!         │ n: varint │ n × (registers skipped: varint, rank: u8)    │  2 KB for 1,000 members,
//!         └───────────┴──────────────────────────────────────────────┘  8 KB for 4,700
//! packed  ┌──────────────────────────────────────────────────────────┐
//!         │ 2^14 ranks of 6 bits, lowest bits first: 12 288 bytes    │  beyond
//!         └──────────────────────────────────────────────────────────┘
//! ```

use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use hyperloglogplus::{HyperLogLog, HyperLogLogPlus};

use super::{SketchError, SketchResult};
use crate::cast::low_byte;
use crate::codec::bytes::{Reader, put_varint, varint_bytes};

/// The number of hash bits that select a register.
const PRECISION: u8 = 14;
/// The number of registers.
const COUNT: usize = 1 << PRECISION;
/// The rank of a hash whose other bits are all zero.
const RANK_MAX: u8 = 64 - PRECISION + 1;
const RANK_BITS: u32 = 6;
/// The number of ranks that fit into [`RANK_BITS`].
const RANKS: usize = 1 << RANK_BITS;
const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
/// The most registers to list. At about two bytes each, the list is well below the packed form.
const LISTED_MAX: usize = 4_096;
/// The size of the packed form in bytes.
const PACKED_BYTES: usize = COUNT * RANK_BITS as usize / 8;
/// Up to this estimate linear counting is more accurate than the ranks. From the paper on
/// HyperLogLog++, for precision 14.
const LINEAR_MAX: f64 = 11_500.0;
/// Up to this raw estimate the crate corrects a bias.
const BIASED_MAX: f64 = 5.0 * COUNT as f64;
/// The factor of raw estimates, from the same paper.
const ALPHA: f64 = 0.7213 / (1.0 + 1.079 / COUNT as f64);
/// The registers that are nonzero in [`DENSE`]: enough to make a sketch of the crate dense, and
/// fewer than in any set beyond [`LINEAR_MAX`], which has at least 8 264.
const DENSE_NONZERO: u64 = 8_192;

/// The highest rank per register.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Registers(Box<[u8; COUNT]>);

impl Default for Registers {
    fn default() -> Self {
        Self(Box::new([0; COUNT]))
    }
}

impl Registers {
    /// The size in memory, in bytes.
    pub(crate) const BYTES: usize = COUNT;
    /// The most bytes of the stored form: those of the packed one, which exceed the longest list.
    pub(crate) const STORED_BYTES_MAX: usize = PACKED_BYTES;

    /// Adds a member by its hash. Returns whether a register changed.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        // A one-bit after the last bit limits the rank when the hash has no further one-bit.
        let rest = hash << PRECISION | 1 << (PRECISION - 1);
        let rank = low_byte(u64::from(rest.leading_zeros())) + 1;
        let register = &mut self.0[(hash >> (64 - PRECISION)) as usize];
        let is_higher = rank > *register;
        *register = rank.max(*register);
        is_higher
    }

    /// Adds all members of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *ours = (*ours).max(*theirs);
        }
    }

    /// Returns the estimated number of members.
    pub(crate) fn estimate(&self) -> f64 {
        let zeros = COUNT - self.nonzero();
        let linear = COUNT as f64 * (COUNT as f64 / zeros as f64).ln();
        if linear <= LINEAR_MAX {
            return linear;
        }
        // The sum of 2^-rank over all registers.
        let shares =
            self.count_ranks().iter().rev().fold(0.0, |sum, count| sum / 2.0 + f64::from(*count));
        let raw = ALPHA * (COUNT * COUNT) as f64 / shares;
        if raw > BIASED_MAX {
            return raw;
        }
        let mut sketch = DENSE.clone();
        let nonzero = self.0.iter().filter(|&&rank| rank > 0);
        for (index, &rank) in (0..).zip(nonzero) {
            sketch.insert(&synthetic_hash(index, rank));
        }
        sketch.count()
    }

    /// Returns whether the stored form is the list.
    pub(crate) fn is_listed(&self) -> bool {
        self.nonzero() <= LISTED_MAX
    }

    /// Returns the size of the stored form in bytes.
    pub(crate) fn stored_bytes(&self) -> usize {
        let nonzero = self.nonzero();
        if nonzero > LISTED_MAX {
            return PACKED_BYTES;
        }
        let mut bytes = varint_bytes(nonzero);
        let mut next = 0;
        for (index, _) in self.0.iter().enumerate().filter(|&(_, &rank)| rank > 0) {
            bytes += varint_bytes(index - next) + 1;
            next = index + 1;
        }
        bytes
    }

    /// Appends the stored form to `out`, as a list if [`Self::is_listed`] returns true.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let nonzero = self.nonzero();
        if nonzero > LISTED_MAX {
            for four in self.0.as_chunks::<4>().0 {
                let bits = four.iter().rev().fold(0, |bits, &r| bits << RANK_BITS | u32::from(r));
                let [a, b, c, _] = bits.to_le_bytes();
                out.extend_from_slice(&[a, b, c]);
            }
            return;
        }
        put_varint(out, nonzero as u64);
        let mut next = 0;
        for (index, &rank) in self.0.iter().enumerate().filter(|&(_, &rank)| rank > 0) {
            put_varint(out, (index - next) as u64);
            out.push(rank);
            next = index + 1;
        }
    }

    /// Decodes the list.
    pub(crate) fn decode_listed(reader: &mut Reader<'_>) -> SketchResult<Self> {
        let n = reader.count("registers", LISTED_MAX)?;
        if n == 0 {
            return Err(SketchError::Inconsistent("a large set has no registers"));
        }
        let mut registers = Self::default();
        let mut next = 0;
        for _ in 0..n {
            let index = next + reader.count("registers skipped", COUNT)?;
            match (registers.0.get_mut(index), reader.u8()?) {
                (Some(register), rank @ 1..=RANK_MAX) => *register = rank,
                _ => {
                    return Err(SketchError::Inconsistent(
                        "the index or rank of a register is out of range",
                    ));
                }
            }
            next = index + 1;
        }
        Ok(registers)
    }

    /// Decodes the packed form.
    pub(crate) fn decode_packed(reader: &mut Reader<'_>) -> SketchResult<Self> {
        let packed = reader.take(PACKED_BYTES)?.as_chunks::<3>().0;
        let mut registers = Self::default();
        for (four, &[a, b, c]) in registers.0.as_chunks_mut::<4>().0.iter_mut().zip(packed) {
            let bits = u32::from_le_bytes([a, b, c, 0]);
            *four = [0, 1, 2, 3].map(|i| (bits >> (i * RANK_BITS) & RANK_MASK) as u8);
        }
        // The maximum, which takes a tenth of the time of a search for one that is too high.
        if registers.0.iter().fold(0, |max: u8, &rank| max.max(rank)) > RANK_MAX {
            return Err(SketchError::Inconsistent("the rank of a register is out of range"));
        }
        if registers.is_listed() {
            return Err(SketchError::Inconsistent(
                "too few registers are nonzero for the packed form",
            ));
        }
        Ok(registers)
    }

    /// Returns the number of nonzero registers.
    fn nonzero(&self) -> usize {
        // In bytes, of which a processor adds many at once.
        let nonzero = |some: &[u8; 128]| some.iter().map(|&rank| u8::from(rank > 0)).sum::<u8>();
        self.0.as_chunks().0.iter().map(|some| usize::from(nonzero(some))).sum()
    }

    /// Returns the number of registers of each rank.
    fn count_ranks(&self) -> [u32; RANKS] {
        // Four lists: the next register mostly has the same rank, and would wait for the sum.
        let mut counts = [[0; RANKS]; 4];
        for four in self.0.as_chunks::<4>().0 {
            for (counts, &rank) in counts.iter_mut().zip(four) {
                counts[usize::from(rank) % RANKS] += 1;
            }
        }
        std::array::from_fn(|rank| counts.iter().map(|counts| counts[rank]).sum())
    }
}

/// Returns a hash that raises register `index` to `rank`, which is 1 to [`RANK_MAX`].
fn synthetic_hash(index: u64, rank: u8) -> u64 {
    let first_one = if rank < RANK_MAX { 1 << (RANK_MAX - 1 - rank) } else { 0 };
    index << (64 - PRECISION) | first_one
}

type Sketch = HyperLogLogPlus<u64, Identity>;

/// A sketch whose first registers have rank 1, the least that a nonzero register can have. The
/// sparse form of the crate counts whole hashes; so many of them make it dense.
static DENSE: LazyLock<Sketch> = LazyLock::new(|| {
    let mut sketch = match Sketch::new(PRECISION, Identity) {
        Ok(sketch) => sketch,
        Err(error) => unreachable!("hyperloglogplus supports precision 14: {error}"),
    };
    (0..DENSE_NONZERO).for_each(|index| sketch.insert(&synthetic_hash(index, 1)));
    sketch
});

/// A hasher that returns its `u64` input, which is a hash already.
#[derive(Clone, Copy, Debug)]
struct Identity;

#[derive(Clone, Copy, Debug, Default)]
struct IdentityHasher(u64);

impl BuildHasher for Identity {
    type Hasher = IdentityHasher;

    fn build_hasher(&self) -> IdentityHasher {
        IdentityHasher::default()
    }
}

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("u64 implements Hash with write_u64");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes numbers (SplitMix64), each to a distinct hash.
    fn hash_of(number: u64) -> u64 {
        let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn of(hashes: impl IntoIterator<Item = u64>) -> Registers {
        let mut registers = Registers::default();
        hashes.into_iter().for_each(|hash| _ = registers.insert(hash));
        registers
    }

    fn encoded(registers: &Registers) -> Vec<u8> {
        let mut out = Vec::new();
        registers.encode(&mut out);
        out
    }

    /// Compares at each step of one growing set: below, within and above the range in which the
    /// crate corrects a bias, until no register is zero. The crate's own sketch is dense long
    /// before the first step.
    #[test]
    fn estimates_are_those_of_the_crate() {
        let mut sketch = Sketch::new(PRECISION, Identity).unwrap();
        let mut registers = Registers::default();
        for member in 0..300_000 {
            sketch.insert(&hash_of(member));
            registers.insert(hash_of(member));
            if member >= 8_000 && member % 250 == 0 {
                assert_eq!(registers.estimate(), sketch.count(), "{member} members");
            }
        }
        assert_eq!(registers.nonzero(), COUNT);
    }

    /// The crate's sketch is dense after some 6 600 of these hashes.
    #[test]
    fn the_least_registers_beyond_linear_counting_are_estimated_as_by_the_crate() {
        for nonzero in [8_262, 8_263, 8_264, 8_265, COUNT as u64 - 1, COUNT as u64] {
            let mut sketch = Sketch::new(PRECISION, Identity).unwrap();
            let hashes = || (0..nonzero).map(|index| synthetic_hash(index, 1));
            hashes().for_each(|hash| sketch.insert(&hash));
            assert_eq!(of(hashes()).estimate(), sketch.count(), "{nonzero} registers");
        }
    }

    #[test]
    fn no_registers_count_nothing_and_few_are_counted_linearly() {
        assert_eq!(Registers::default().estimate(), 0.0);
        assert_eq!(of([synthetic_hash(3, 40)]).estimate().round(), 1.0);
        let first_half = of((0..8_192).map(|i| synthetic_hash(i, 1))).estimate();
        assert_eq!(first_half, 16_384.0 * 2_f64.ln());
    }

    #[test]
    fn a_synthetic_hash_raises_one_register_to_its_rank() {
        for rank in 1..=RANK_MAX {
            for index in [0, 1, 4_711, COUNT as u64 - 1] {
                let mut expected = Registers::default();
                expected.0[index as usize] = rank;
                assert_eq!(of([synthetic_hash(index, rank)]).0, expected.0);
            }
        }
    }

    #[test]
    fn an_insert_reports_whether_a_register_changed() {
        let mut registers = Registers::default();
        let changed = [(3, 2), (3, 1), (3, 2), (3, 3), (4, 1)]
            .map(|(index, rank)| registers.insert(synthetic_hash(index, rank)));
        assert_eq!(changed, [true, false, false, true, true]);
    }

    /// Checks the deviation over many sets.
    #[test]
    fn estimates_have_the_documented_standard_error() {
        for n in [1_001u64, 3_000, 12_000, 40_000, 100_000] {
            let trials = 50;
            let squares: f64 = (0..trials)
                .map(|t| of((0..n).map(|i| hash_of(t << 32 | i))).estimate() / n as f64 - 1.0)
                .map(|error| error * error)
                .sum();
            let deviation = (squares / trials as f64).sqrt();
            assert!(deviation < 0.0082 * 1.25, "{deviation} for {n}");
        }
    }

    #[test]
    fn the_stored_form_does_not_change() {
        let listed =
            of([synthetic_hash(3, 9), synthetic_hash(3, 8), synthetic_hash(200, RANK_MAX)]);
        assert!(listed.is_listed());
        assert_eq!(encoded(&listed), [2, 3, 9, 0xc4, 0x01, 51]);

        let packed = of((0..4_097).map(|i| synthetic_hash(i, (i % 4) as u8 + 1)));
        assert!(!packed.is_listed());
        let mut expected = [0x81, 0x30, 0x10].repeat(1_024);
        expected.push(1);
        expected.resize(PACKED_BYTES, 0);
        assert_eq!(encoded(&packed), expected);
    }

    #[test]
    fn encoded_registers_round_trip() {
        for n in [1, 1_001, 4_000, 6_000, 100_000] {
            let registers = of((0..n).map(hash_of));
            let bytes = encoded(&registers);
            let mut reader = Reader::new(&bytes);
            let read = if registers.is_listed() {
                Registers::decode_listed(&mut reader)
            } else {
                Registers::decode_packed(&mut reader)
            };
            assert_eq!(read.unwrap().0, registers.0);
            assert!(reader.finish().is_ok());
        }
    }

    #[test]
    fn invalid_registers_are_refused() {
        let listed = |bytes: &[u8]| {
            assert!(Registers::decode_listed(&mut Reader::new(bytes)).is_err(), "{bytes:?}");
        };
        listed(&[]);
        listed(&[0]);
        listed(&[1, 3]);
        listed(&[1, 3, 0]);
        listed(&[1, 3, RANK_MAX + 1]);
        listed(&[1, 0x80, 0x80, 0x01, 1]);
        listed(&[2, 0xff, 0x7f, 1, 0, 1]);
        listed(&[&[0x81, 0x20][..], &[0, 1].repeat(4_097)].concat());
        let packed = |bytes: &[u8]| {
            assert!(Registers::decode_packed(&mut Reader::new(bytes)).is_err());
        };
        packed(&[0xff; PACKED_BYTES]);
        packed(&[0; PACKED_BYTES]);
        packed(&[0x41; PACKED_BYTES - 1]);
    }

    #[test]
    fn the_longest_list_round_trips() {
        let full = of((0..LISTED_MAX as u64).map(|index| synthetic_hash(index, 1)));
        let bytes = encoded(&full);
        assert_eq!(bytes, [&[0x80, 0x20][..], &[0, 1].repeat(LISTED_MAX)].concat());
        assert_eq!(Registers::decode_listed(&mut Reader::new(&bytes)).unwrap().0, full.0);
    }
}
