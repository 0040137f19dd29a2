//! Sketches of chunks: nearly equal chunks have equal sketches.
//!
//! The method is that of Broder, "On the resemblance and containment of documents" (1997): the
//! least of the hashes of all pairs of neighbouring words, under four hash functions. Two chunks
//! that have 19 of 20 pairs in common are found equal with a probability of 0.8, two that have half
//! in common with one of 0.06.

/// Odd multipliers, each of which orders the pairs differently.
const MULTIPLIERS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0xd6e8_feb8_6659_fd93];

/// The sketch of a chunk, as far as its words are known.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    before: u64,
    least: [u64; 4],
}

impl Sketch {
    pub(super) fn new() -> Self {
        Self { before: 0, least: [u64::MAX; 4] }
    }

    /// Adds the next word, by its hash.
    pub(super) fn add(&mut self, hash: u64) {
        let pair = self.before.rotate_left(23) ^ hash;
        self.before = hash;
        for (least, multiplier) in self.least.iter_mut().zip(MULTIPLIERS) {
            let mixed = (pair ^ pair >> 32).wrapping_mul(multiplier);
            *least = (*least).min(mixed ^ mixed >> 29);
        }
    }

    pub(super) fn finish(&self) -> u32 {
        // The lower bits: the upper ones of the least hashes are all 0.
        u32::from_le_bytes(self.least.map(|least| least as u8))
    }
}
