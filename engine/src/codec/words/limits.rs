//! What a code may contain: one bound for the writer and the reader.

/// The most values of a word.
pub(super) const WORD_VALUES_MAX: usize = 3;
/// The most values in a code: a byte numbers them.
pub(super) const VALUES_MAX: usize = 256;
/// One in so many rows may be an exception: it takes some four bytes.
const ROWS_PER_EXCEPTION: usize = 512;
/// Bits of the longest code whose length is stored: four bits tell it.
pub(super) const STORED_BITS_MAX: u32 = 15;
/// Bits of the longest code: where all words have one, the rare ones would take much from the
/// frequent ones if theirs were shorter.
pub(super) const CODE_BITS_MAX: u32 = 18;
/// The most bits that a decoder looks up at once: codes that are longer are rare.
pub(super) const TABLE_BITS_MAX: u32 = 11;

/// Returns the most values of a code whose words have `word_values` values each.
pub(super) fn values_max(word_values: usize) -> usize {
    match word_values {
        1 => VALUES_MAX,
        2 => 64,
        _ => 16,
    }
}

/// Returns the most values of a column that may be missing in its code.
pub(super) fn exceptions_max(rows: usize) -> usize {
    rows / ROWS_PER_EXCEPTION
}
