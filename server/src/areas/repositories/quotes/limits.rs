//! The limits of quotes, with units and reasons.

/// Characters of a quoted sentence: what a person reads at a glance.
pub(super) const SENTENCE_CHARS_MAX: usize = 280;
/// Sentences that are read of one documentation: the first ones describe, the others explain.
pub(super) const SENTENCES_MAX: usize = 40;
/// Bytes of a documentation in which sentences are looked for.
pub(super) const DOC_BYTES_MAX: usize = 16 * 1024;
/// Characters from which a value after a name such as `password` may be a secret.
pub(super) const SECRET_CHARS_MIN: usize = 8;
/// Characters from which a word after one such as `password` in a sentence may be a secret.
pub(super) const TOLD_SECRET_CHARS_MIN: usize = 6;
/// Characters from which a value without quotes may be a secret: shorter ones are names and
/// numbers.
pub(super) const BARE_SECRET_CHARS_MIN: usize = 16;
/// Bits of entropy per character from which a value is random.
pub(super) const SECRET_ENTROPY_BITS_MIN: f64 = 3.0;
/// Characters of a key, and of a web token, that are read: their beginnings say what they are.
pub(super) const KEY_CHARS_MAX: usize = 256;
pub(super) const TOKEN_CHARS_MAX: usize = 2_048;
/// Bytes before and after the mark of an assignment in which its name and its value are.
pub(super) const NAME_BYTES_MAX: usize = 256;
pub(super) const VALUE_BYTES_MAX: usize = 1_024;
