//! Canonical Huffman codes of limited length.
//!
//! Codes follow from their lengths, and these are stored, unless they follow from
//! [costs](super::costs) of single values. Shorter codes come first, codes of one length in the
//! order of words, as in RFC 1951; the first bit of a code is the lowest.
//!
//! ```text
//! of each word: bits: 4 bits, where zero is followed by the number of further zeros: 8 bits
//! ```

use super::super::bits::BitWriter;
use super::super::bytes::Reader;
use super::super::{CodecError, CodecResult};
use super::limits::{CODE_BITS_MAX, STORED_BITS_MAX};
use crate::cast::{low_byte, low_half};

/// The most zeros that follow a zero.
const ZEROS_MAX: usize = 255;

/// A code for words.
#[derive(Debug)]
pub(super) struct Code {
    /// Of each word, or zero.
    lengths: Vec<u8>,
    /// Of each word, with its length in the lowest 8 bits.
    codes: Vec<u32>,
}

impl Code {
    /// Returns the best code for words of these frequencies whose lengths can be stored.
    pub(super) fn new(frequencies: &[u32]) -> Option<Self> {
        Self::with_lengths(code_lengths(frequencies)?)
    }

    /// Returns the code with these lengths, one of each word.
    pub(super) fn with_lengths(lengths: Vec<u8>) -> Option<Self> {
        let mut codes = vec![0; lengths.len()];
        for WordCode { word, code, bits } in self::codes(&lengths).ok()? {
            *codes.get_mut(word)? = low_half(lowest_first(code, bits)) << 8 | bits;
        }
        Some(Self { lengths, codes })
    }

    #[cfg(test)]
    pub(super) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Returns the bits of words of these frequencies.
    pub(super) fn bits_of(&self, frequencies: &[u32]) -> usize {
        let bits = |(n, length): (&u32, &u8)| *n as usize * usize::from(*length);
        frequencies.iter().zip(&self.lengths).map(bits).sum()
    }

    /// Appends the lengths of all codes.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let mut bits = BitWriter::default();
        let mut rest = self.lengths.as_slice();
        while let Some((length, following)) = rest.split_first() {
            rest = following;
            bits.push(u64::from(*length), 4, out);
            if *length == 0 {
                let zeros = rest.iter().take(ZEROS_MAX).take_while(|length| **length == 0).count();
                bits.push(zeros as u64, 8, out);
                rest = rest.get(zeros..).unwrap_or_default();
            }
        }
        bits.finish(out);
    }

    /// Appends the codes of `words`, and fills up the last byte with zeros.
    pub(super) fn encode(&self, words: &[u16], out: &mut Vec<u8>) {
        let (mut pending, mut bits) = (0u64, 0);
        for word in words {
            let code = self.codes.get(usize::from(*word)).copied().unwrap_or_default();
            pending |= u64::from(code >> 8) << bits;
            bits += code & 0xff;
            if bits >= 32 {
                out.extend_from_slice(&low_half(pending).to_le_bytes());
                pending >>= 32;
                bits -= 32;
            }
        }
        out.extend(pending.to_le_bytes().iter().take(bits.div_ceil(8) as usize));
    }
}

/// Reads the lengths of the codes of `words` words, of which nothing follows.
pub(super) fn read_lengths(reader: &mut Reader<'_>, words: usize) -> CodecResult<Vec<u8>> {
    let bytes = reader.take(reader.rest().len())?;
    let mut halves = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let mut next =
        || halves.next().ok_or_else(|| CodecError::new("lengths of codes end too early"));
    let mut lengths = Vec::with_capacity(words);
    while lengths.len() < words {
        let length = next()?;
        lengths.push(length);
        if length == 0 {
            let zeros = usize::from(next()? | next()? << 4);
            lengths.resize(lengths.len() + zeros, 0);
        }
    }
    if lengths.len() > words {
        return Err(CodecError::new(format!("{} codes for {words} words", lengths.len())));
    }
    // The last byte may have a half that is not used.
    let mut rest = halves.take(2);
    match (rest.next(), rest.next()) {
        (None | Some(0), None) => Ok(lengths),
        _ => Err(CodecError::new("lengths of codes are followed by others")),
    }
}

/// The code of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordCode {
    pub(super) word: usize,
    /// The first bit is the highest: codes of one length are consecutive numbers.
    pub(super) code: u64,
    pub(super) bits: u32,
}

/// Returns the codes of all words that have one, shorter ones first. Fails if there are more codes
/// than bits can tell apart.
pub(super) fn codes(lengths: &[u8]) -> CodecResult<Vec<WordCode>> {
    // Of each length, the next code and its place among all codes.
    let mut next = [(0u64, 0usize); CODE_BITS_MAX as usize + 1];
    for length in lengths.iter().filter(|length| **length > 0) {
        if let Some((_, place)) = next.get_mut(usize::from(*length)) {
            *place += 1;
        }
    }
    let (mut first_code, mut first_place, mut taken) = (0, 0, 0);
    for (bits, (code, place)) in (0..).zip(&mut next) {
        let count = std::mem::replace(place, first_place);
        *code = first_code << 1;
        first_code = *code + count as u64;
        first_place += count;
        taken += share(bits) * count as u64;
    }
    if taken > share(0) {
        return Err(CodecError::new("codes of words overlap"));
    }
    let mut codes = vec![WordCode { word: 0, code: 0, bits: 0 }; first_place];
    for (word, length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
        if let Some((code, place)) = next.get_mut(usize::from(*length)) {
            if let Some(into) = codes.get_mut(*place) {
                *into = WordCode { word, code: *code, bits: u32::from(*length) };
            }
            *code += 1;
            *place += 1;
        }
    }
    Ok(codes)
}

/// Returns a code as it is stored, with the first bit lowest.
pub(super) fn lowest_first(code: u64, bits: u32) -> u64 {
    code.reverse_bits() >> (64 - bits)
}

/// Returns how many numbers of [`CODE_BITS_MAX`] bits begin with a code of `bits` bits.
fn share(bits: u32) -> u64 {
    1 << CODE_BITS_MAX.saturating_sub(bits)
}

/// Returns the bits of the code of each word whose length can be stored, and zero for words that do
/// not occur. `None` if so many occur that the longest codes are too short.
fn code_lengths(frequencies: &[u32]) -> Option<Vec<u8>> {
    let occurring = frequencies.iter().enumerate().filter(|(_, n)| **n > 0);
    let mut used: Vec<(u32, usize)> = occurring.map(|(word, n)| (*n, word)).collect();
    used.sort_unstable();
    lengths_of_sorted(&used, frequencies.len(), STORED_BITS_MAX)
}

/// Returns the bits of the code of each of so many words, at most `bits_max` and zero for words
/// without a frequency: `used` are frequencies and words, the rarest first. `None` if so many occur
/// that the longest codes are too short.
pub(super) fn lengths_of_sorted(
    used: &[(u32, usize)],
    words: usize,
    bits_max: u32,
) -> Option<Vec<u8>> {
    if used.len() > 1 << bits_max {
        return None;
    }
    let of_length = limited(&depths(&used.iter().map(|(n, _)| *n).collect::<Vec<_>>()), bits_max);
    let mut lengths = vec![0; words];
    // The rarest words get the longest codes.
    let mut words = used.iter().map(|(_, word)| *word);
    for (bits, count) in of_length.iter().enumerate().rev() {
        for word in words.by_ref().take(*count as usize) {
            *lengths.get_mut(word)? = low_byte(bits as u64);
        }
    }
    Some(lengths)
}

/// Returns the number of codes of each length, of which none is longer than `bits_max`: where codes
/// are cut, others become longer, as in `miniz` by Rich Geldreich.
fn limited(depths: &[u32], bits_max: u32) -> Vec<u32> {
    let mut of_length = vec![0; bits_max as usize + 1];
    // In codes of `bits_max` bits.
    let mut taken = 0u64;
    for depth in depths {
        let bits = (*depth).clamp(1, bits_max);
        taken += 1 << (bits_max - bits);
        if let Some(count) = of_length.get_mut(bits as usize) {
            *count += 1;
        }
    }
    while taken > 1 << bits_max {
        let [shorter @ .., longest] = of_length.as_mut_slice() else { break };
        let Some(bits) = shorter.iter().rposition(|count| *count > 0) else { break };
        // One of the longest codes joins a shorter one, and both get a bit more than that had.
        *longest -= 1;
        taken -= 1;
        for (at, count) in of_length.iter_mut().enumerate().skip(bits).take(2) {
            *count = if at == bits { *count - 1 } else { *count + 2 };
        }
    }
    of_length
}

/// Returns the depth of each leaf of a Huffman tree. `frequencies` are in increasing order: the
/// inner nodes are then made in increasing order too (van Leeuwen 1976).
fn depths(frequencies: &[u32]) -> Vec<u32> {
    let leaves = frequencies.len();
    let mut weights: Vec<u64> = frequencies.iter().map(|n| u64::from(*n)).collect();
    let mut parents = vec![0; leaves];
    let (mut leaf, mut node) = (0, leaves);
    while weights.len() + 1 < 2 * leaves {
        let made = weights.len();
        let mut sum = 0;
        for _ in 0..2 {
            let of = |at: usize| weights.get(at).copied().unwrap_or(u64::MAX);
            let is_leaf = leaf < leaves && of(leaf) <= of(node);
            let lightest = if is_leaf { &mut leaf } else { &mut node };
            sum += of(*lightest);
            if let Some(parent) = parents.get_mut(*lightest) {
                *parent = made;
            }
            *lightest += 1;
        }
        weights.push(sum);
        parents.push(0);
    }
    let mut depths = vec![0; parents.len()];
    for at in (0..parents.len().saturating_sub(1)).rev() {
        let of_parent = parents.get(at).and_then(|parent| depths.get(*parent)).copied();
        if let Some(depth) = depths.get_mut(at) {
            *depth = of_parent.unwrap_or(0) + 1;
        }
    }
    depths.truncate(leaves);
    depths
}
