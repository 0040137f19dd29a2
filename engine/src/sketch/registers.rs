//! The registers of a HyperLogLog sketch of precision 14: a set too large to be kept, in 16 KB.
//!
//! The first 14 bits of a member's hash choose one of 2^14 registers; the register keeps the highest *rank*
//! seen, the position of the first one-bit among the other 50, or 51 when there is none. Ranks only ever
//! rise, so the registers depend on the set of members alone and a merge is the larger of each two.
//!
//! The registers are ours, the estimate is `hyperloglogplus`'s, with its correction of the known bias; the
//! standard error is 1.04 / √2^14 = 0.81 %. That crate's own merge costs eighty times one over plain bytes,
//! it serialises a `HashSet` in random order, and what is on disk must not hang on a foreign layout. So the
//! crate is handed the registers through its public face when a number is wanted: for each one a made-up hash
//! that raises it to its rank, unchanged by [`Identity`]. The sketch that takes them must be dense from its
//! start, since the crate's sparse form counts whole hashes. There is no constructor for that, but serde
//! reads one: [`State`] mirrors the serialised fields. The tests compare registers and estimates with those
//! that the crate makes of the same members, so a version with other fields is noticed.
//!
//! Stored form, whichever follows from the number of registers that are not zero:
//!
//! ```text
//! listed  ┌───────────┬──────────────────────────────────────────────┐  up to LISTED_MAX:
//!         │ n: varint │ n × (registers skipped: varint, rank: u8)    │  2 KB for 1 000 members, 8 KB for
//!         └───────────┴──────────────────────────────────────────────┘  the 4 700 that set so many
//! packed  ┌──────────────────────────────────────────────────────────┐
//!         │ 2^14 ranks of 6 bits, lowest bits first: 12 288 bytes    │  beyond
//!         └──────────────────────────────────────────────────────────┘
//! ```

use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use hyperloglogplus::{HyperLogLog, HyperLogLogPlus};
use serde::{Deserialize, Serialize};

use super::{SketchError, SketchResult};
use crate::codec::bytes::{Reader, put_varint, varint_bytes};

/// Bits of a hash that choose its register.
const PRECISION: u8 = 14;
/// How many registers there are.
const COUNT: usize = 1 << PRECISION;
/// The rank of a hash whose other bits are all zero.
const RANK_MAX: u8 = 64 - PRECISION + 1;
const RANK_BITS: u32 = 6;
const RANK_MASK: u32 = (1 << RANK_BITS) - 1;
/// Registers to list; at about two bytes each that is well under packing all of them.
const LISTED_MAX: usize = 4_096;
/// Bytes of the packed form.
const PACKED_BYTES: usize = COUNT * RANK_BITS as usize / 8;

/// The ranks of a set's members.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Registers(Box<[u8; COUNT]>);

impl Default for Registers {
    fn default() -> Self {
        Self(Box::new([0; COUNT]))
    }
}

impl Registers {
    /// Bytes in memory.
    pub(crate) const BYTES: usize = COUNT;
    /// The most bytes of the stored form: those of the packed one, or of so many that are listed.
    pub(crate) const STORED_BYTES_MAX: usize = PACKED_BYTES;

    /// Adds a member by its hash.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) {
        // The bit set after the last one ends the search where the hash has no further one.
        let rest = hash << PRECISION | 1 << (PRECISION - 1);
        let rank = rest.leading_zeros() as u8 + 1;
        let register = &mut self.0[(hash >> (64 - PRECISION)) as usize];
        *register = rank.max(*register);
    }

    /// Adds all members of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *ours = (*ours).max(*theirs);
        }
    }

    /// About how many members there are.
    pub(crate) fn estimate(&self) -> f64 {
        let mut sketch = EMPTY.clone();
        for (index, &rank) in (0..).zip(self.0.iter()) {
            if rank > 0 {
                sketch.insert(&made_up_hash(index, rank));
            }
        }
        sketch.count()
    }

    /// Whether the stored form is the list.
    pub(crate) fn is_listed(&self) -> bool {
        self.raised() <= LISTED_MAX
    }

    /// Bytes of the stored form.
    pub(crate) fn stored_bytes(&self) -> usize {
        let raised = self.raised();
        if raised > LISTED_MAX {
            return PACKED_BYTES;
        }
        let mut bytes = varint_bytes(raised);
        let mut next = 0;
        for (index, _) in self.0.iter().enumerate().filter(|&(_, &rank)| rank > 0) {
            bytes += varint_bytes(index - next) + 1;
            next = index + 1;
        }
        bytes
    }

    /// Appends the stored form that [`Self::is_listed`] tells to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let raised = self.raised();
        if raised > LISTED_MAX {
            for four in self.0.as_chunks::<4>().0 {
                let bits = four.iter().rev().fold(0, |bits, &r| bits << RANK_BITS | u32::from(r));
                let [a, b, c, _] = bits.to_le_bytes();
                out.extend_from_slice(&[a, b, c]);
            }
            return;
        }
        put_varint(out, raised as u64);
        let mut next = 0;
        for (index, &rank) in self.0.iter().enumerate().filter(|&(_, &rank)| rank > 0) {
            put_varint(out, (index - next) as u64);
            out.push(rank);
            next = index + 1;
        }
    }

    /// Reads the list.
    pub(crate) fn decode_listed(reader: &mut Reader<'_>) -> SketchResult<Self> {
        let n = reader.count("registers", LISTED_MAX)?;
        if n == 0 {
            return Err(SketchError::Inconsistent("a large set without members"));
        }
        let mut registers = Self::default();
        let mut next = 0;
        for _ in 0..n {
            let index = next + reader.count("registers skipped", COUNT)?;
            match (registers.0.get_mut(index), reader.u8()?) {
                (Some(register), rank @ 1..=RANK_MAX) => *register = rank,
                _ => return Err(SketchError::Inconsistent("no register has that index or rank")),
            }
            next = index + 1;
        }
        Ok(registers)
    }

    /// Reads the packed form.
    pub(crate) fn decode_packed(reader: &mut Reader<'_>) -> SketchResult<Self> {
        let packed = reader.take(PACKED_BYTES)?.as_chunks::<3>().0;
        let mut registers = Self::default();
        for (four, &[a, b, c]) in registers.0.as_chunks_mut::<4>().0.iter_mut().zip(packed) {
            let bits = u32::from_le_bytes([a, b, c, 0]);
            *four = [0, 1, 2, 3].map(|i| (bits >> (i * RANK_BITS) & RANK_MASK) as u8);
        }
        if registers.0.iter().any(|&rank| rank > RANK_MAX) {
            return Err(SketchError::Inconsistent("no register has that rank"));
        }
        if registers.is_listed() {
            return Err(SketchError::Inconsistent("so few registers are listed, not packed"));
        }
        Ok(registers)
    }

    /// How many registers are not zero.
    fn raised(&self) -> usize {
        self.0.iter().filter(|&&rank| rank > 0).count()
    }
}

/// A hash that raises this register to this rank, which is 1 to [`RANK_MAX`].
fn made_up_hash(index: u64, rank: u8) -> u64 {
    let first_one = if rank < RANK_MAX { 1 << (RANK_MAX - 1 - rank) } else { 0 };
    index << (64 - PRECISION) | first_one
}

type Sketch = HyperLogLogPlus<u64, Identity>;

/// A dense sketch without members.
static EMPTY: LazyLock<Sketch> = LazyLock::new(|| {
    const RANKS_PER_WORD: usize = u32::BITS as usize / RANK_BITS as usize;
    let state = State {
        hasher: Identity,
        precision: PRECISION,
        counts: (COUNT, 1 << 24, 4 * COUNT / RANKS_PER_WORD),
        sparse_pending: &[],
        sparse: (0, 0, &[]),
        registers: Some((vec![0; COUNT.div_ceil(RANKS_PER_WORD)], COUNT, COUNT)),
    };
    match postcard::to_stdvec(&state).and_then(|bytes| postcard::from_bytes(&bytes)) {
        Ok(sketch) => sketch,
        Err(error) => unreachable!("hyperloglogplus reads the state it writes: {error}"),
    }
});

/// The serialised fields of [`Sketch`], in their order.
#[derive(Serialize)]
struct State<'a> {
    hasher: Identity,
    precision: u8,
    /// Registers, registers of the sparse form, bytes at which sparse becomes dense.
    counts: (usize, usize, usize),
    sparse_pending: &'a [u32],
    /// Count, last value, bytes.
    sparse: (usize, u32, &'a [u8]),
    /// Ranks packed five to a word, how many there are, how many are zero.
    registers: Option<(Vec<u32>, usize, usize)>,
}

/// A hasher for what is a hash already.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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
        unreachable!("a u64 hashes itself with write_u64");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spreads numbers over all bits, each to its own hash (splitmix64).
    fn hash_of(number: u64) -> u64 {
        let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn of(hashes: impl IntoIterator<Item = u64>) -> Registers {
        let mut registers = Registers::default();
        hashes.into_iter().for_each(|hash| registers.insert(hash));
        registers
    }

    fn encoded(registers: &Registers) -> Vec<u8> {
        let mut out = Vec::new();
        registers.encode(&mut out);
        out
    }

    /// What the crate serialises of a dense sketch whose registers are these.
    fn state_of(registers: &Registers) -> Vec<u8> {
        let words = registers
            .0
            .chunks(5)
            .map(|five| five.iter().rev().fold(0, |bits, &r| bits << RANK_BITS | u32::from(r)))
            .collect();
        let state = State {
            hasher: Identity,
            precision: PRECISION,
            counts: (COUNT, 1 << 24, 4 * COUNT / 5),
            sparse_pending: &[],
            sparse: (0, 0, &[]),
            registers: Some((words, COUNT, COUNT - registers.raised())),
        };
        postcard::to_stdvec(&state).unwrap()
    }

    #[test]
    fn registers_and_estimates_are_those_of_the_crate() {
        for n in [10_000, 20_000, 100_000, 300_000] {
            let mut sketch = Sketch::new(PRECISION, Identity).unwrap();
            (0..n).for_each(|i| sketch.insert(&hash_of(i)));
            let registers = of((0..n).map(hash_of));
            assert_eq!(postcard::to_stdvec(&sketch).unwrap(), state_of(&registers), "{n} members");
            assert_eq!(registers.estimate(), sketch.count(), "{n} members");
        }
    }

    #[test]
    fn an_empty_sketch_is_dense_and_counts_nothing() {
        assert_eq!(postcard::to_stdvec(&*EMPTY).unwrap(), state_of(&Registers::default()));
        assert_eq!(Registers::default().estimate(), 0.0);
    }

    #[test]
    fn a_made_up_hash_raises_one_register_to_its_rank() {
        for rank in 1..=RANK_MAX {
            for index in [0, 1, 4_711, COUNT as u64 - 1] {
                let mut expected = Registers::default();
                expected.0[index as usize] = rank;
                assert_eq!(of([made_up_hash(index, rank)]).0, expected.0);
                let mut sketch = EMPTY.clone();
                sketch.insert(&made_up_hash(index, rank));
                assert_eq!(postcard::to_stdvec(&sketch).unwrap(), state_of(&expected));
            }
        }
    }

    /// The deviation over many sets, not the luck of one.
    #[test]
    fn estimates_have_the_standard_error_promised() {
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
        let listed = of([made_up_hash(3, 9), made_up_hash(3, 8), made_up_hash(200, RANK_MAX)]);
        assert!(listed.is_listed());
        assert_eq!(encoded(&listed), [2, 3, 9, 0xc4, 0x01, 51]);

        let packed = of((0..4_097).map(|i| made_up_hash(i, (i % 4) as u8 + 1)));
        assert!(!packed.is_listed());
        let mut expected = [0x81, 0x30, 0x10].repeat(1_024);
        expected.push(1);
        expected.resize(PACKED_BYTES, 0);
        assert_eq!(encoded(&packed), expected);
    }

    #[test]
    fn stored_registers_come_back() {
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
    fn registers_that_cannot_be_are_refused() {
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
    fn as_many_registers_as_a_list_has_come_back() {
        let full = of((0..LISTED_MAX as u64).map(|index| made_up_hash(index, 1)));
        let bytes = encoded(&full);
        assert_eq!(bytes, [&[0x80, 0x20][..], &[0, 1].repeat(LISTED_MAX)].concat());
        assert_eq!(Registers::decode_listed(&mut Reader::new(&bytes)).unwrap().0, full.0);
    }
}
