//! Codes that follow from what single values cost.
//!
//! The lengths of the codes of a thousand words take more than all else besides the codes, and most
//! of them say little: a word is nearly as rare as its values are. Stored is what each value costs,
//! and one number for all pairs of neighbors, since a step that was rounded up is followed by one
//! that is rounded down. The frequencies of all words follow from that, and the code from those.
//! Writer and reader calculate with integers only, so that both get the same code everywhere.
//!
//! ```text
//! pair: i8 │ of each value: cost: u8
//! ```
//!
//! A cost is the bits that a perfect code would have for the value, times 16. In words of several
//! values, each pair of neighbors adds `pair · a · b / 256` bits, where `a` and `b` are the
//! numbers of its values, counted from the first one of the lowest cost.

use super::super::bytes::Reader;
use super::super::{CodecError, CodecResult};
use super::huffman::lengths_of_sorted;
use super::limits::CODE_BITS_MAX;
use crate::cast::{integer_part, length, low_byte};

/// Steps of a cost in a bit.
const COST_STEPS: usize = 16;
/// Steps of `pair` in a step of a cost.
const PAIR_STEPS: i32 = 16;
/// By the steps of a cost beyond whole bits, the weight of a word that costs no whole bits:
/// `2^(31 - step / 16)`.
const WEIGHTS: [u32; COST_STEPS] = [
    0x8000_0000,
    0x7a92_be8b,
    0x7560_6374,
    0x7066_6f76,
    0x6ba2_7e65,
    0x6712_460b,
    0x62b3_9509,
    0x5e84_51d0,
    0x5a82_799a,
    0x56ac_1f75,
    0x52ff_6b55,
    0x4f7a_9930,
    0x4c1b_f829,
    0x48e1_e9ba,
    0x45ca_e0f2,
    0x42d5_61b4,
];
/// The costs of words are below this: it would leave no weight.
const WORD_COSTS: usize = 32 * COST_STEPS;

/// What values cost.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Costs {
    pair: i8,
    /// Of each value.
    values: Vec<u8>,
}

impl Costs {
    /// Returns the costs of `values` values in words of these frequencies.
    pub(super) fn of(frequencies: &[u32], values: usize, word_values: usize) -> Self {
        let mut moments = Moments { counts: vec![0; values], ..Moments::default() };
        for (word, count) in frequencies.iter().enumerate().filter(|(_, count)| **count > 0) {
            moments.add(word, word_values, f64::from(*count));
        }
        let all = moments.counts.iter().sum::<u64>() as f64;
        let cost = |count: &u64| {
            let bits = if *count > 0 { (all / *count as f64).log2() } else { f64::MAX };
            let steps = (bits * COST_STEPS as f64).round().clamp(0.0, f64::from(u8::MAX));
            low_byte(integer_part(steps).cast_unsigned())
        };
        Self { pair: moments.pair(), values: moments.counts.iter().map(cost).collect() }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.pair.to_le_bytes());
        out.extend_from_slice(&self.values);
    }

    pub(super) fn read(reader: &mut Reader<'_>, values: usize) -> CodecResult<Self> {
        let pair = i8::from_le_bytes([reader.u8()?]);
        Ok(Self { pair, values: reader.take(values)?.to_vec() })
    }

    /// Returns the bits of the code of each word of `word_values` values.
    pub(super) fn lengths(&self, word_values: usize) -> CodecResult<Vec<u8>> {
        let words = self.of_words(word_values);
        lengths_of_sorted(&rarest_first(&words), words.len(), CODE_BITS_MAX)
            .ok_or_else(|| CodecError::new("a code has too many words"))
    }

    /// Returns what each word costs, below [`WORD_COSTS`].
    fn of_words(&self, word_values: usize) -> Vec<usize> {
        let lowest = self.values.iter().enumerate().min_by_key(|(_, cost)| **cost);
        let lowest = lowest.map_or(0, |(value, _)| signed(value));
        let digits = (-lowest..).zip(self.values.iter().map(|cost| i32::from(*cost) * PAIR_STEPS));
        // Of each word, the number of its last value and its cost: first of the empty word, and
        // then of words with one value more at a time.
        let mut words = vec![(0, 0)];
        for _ in 0..word_values {
            let mut longer = Vec::with_capacity(words.len() * self.values.len());
            for (value, cost) in digits.clone() {
                let pair = value * i32::from(self.pair);
                longer.extend(words.iter().map(|(last, word)| (value, word + cost + pair * last)));
            }
            words = longer;
        }
        let whole = |(_, cost): &(i32, i32)| usize::try_from(cost / PAIR_STEPS).unwrap_or_default();
        words.iter().map(|word| whole(word).min(WORD_COSTS - 1)).collect()
    }
}

/// Returns the weights of words of these costs, and the words, in increasing order of weights.
/// Counting costs instead of comparing weights halves the time to open a column.
fn rarest_first(costs: &[usize]) -> Vec<(u32, usize)> {
    let mut places = [0usize; WORD_COSTS];
    for cost in costs {
        if let Some(words) = places.get_mut(*cost) {
            *words += 1;
        }
    }
    let mut place = 0;
    for words in places.iter_mut().rev() {
        place += std::mem::replace(words, place);
    }
    let mut sorted = vec![(0, 0); costs.len()];
    for (word, cost) in costs.iter().enumerate() {
        let Some(place) = places.get_mut(*cost) else { continue };
        if let Some(into) = sorted.get_mut(*place) {
            *into = (weight(*cost), word);
        }
        *place += 1;
    }
    sorted
}

/// Returns how frequent words of this cost are, compared with others.
fn weight(cost: usize) -> u32 {
    let (bits, step) = (cost / COST_STEPS, cost % COST_STEPS);
    WEIGHTS.get(step).map_or(0, |weight| weight >> bits)
}

/// Returns the number of a value, of which there are at most 256.
fn signed(number: usize) -> i32 {
    i32::try_from(number).unwrap_or_default()
}

/// How values are distributed, and pairs of neighbors.
#[derive(Debug, Default)]
struct Moments {
    /// Of each value.
    counts: Vec<u64>,
    sum: f64,
    squares: f64,
    pairs: f64,
    products: f64,
}

impl Moments {
    fn add(&mut self, word: usize, word_values: usize, count: f64) {
        let (mut rest, mut before) = (word, None);
        for _ in 0..word_values {
            let digit = rest % self.counts.len();
            rest /= self.counts.len();
            if let Some(of_value) = self.counts.get_mut(digit) {
                *of_value += integer_part(count).cast_unsigned();
            }
            let value = length(digit) as f64;
            self.sum += count * value;
            self.squares += count * value * value;
            if let Some(before) = before.replace(value) {
                self.pairs += count;
                self.products += count * before * value;
            }
        }
    }

    /// Returns what pairs of neighbors cost, as if they were normally distributed.
    fn pair(&self) -> i8 {
        let all = self.counts.iter().sum::<u64>() as f64;
        let mean = self.sum / all;
        let variance = self.squares / all - mean * mean;
        let covariance = self.products / self.pairs - mean * mean;
        let bits = -covariance / (variance * variance) * std::f64::consts::LOG2_E;
        let steps = COST_STEPS as f64 * f64::from(PAIR_STEPS) * bits;
        if !steps.is_finite() {
            return 0;
        }
        let steps = steps.round().clamp(f64::from(i8::MIN), f64::from(i8::MAX));
        i8::try_from(integer_part(steps)).unwrap_or_default()
    }
}
