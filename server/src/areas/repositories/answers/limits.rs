//! The limits of answers, with units and reasons.

/// Confidence from which an answer counts as found: it has references, and something defines each
/// name of the question.
pub const FOUND_CONFIDENCE_MIN: f64 = 0.2;

/// Lines of a snippet.
pub(super) const SNIPPET_LINES_MAX: u32 = 40;
/// Bytes of a snippet: a line can be very long.
pub(super) const SNIPPET_BYTES_MAX: usize = 8 * 1024;
/// References of an answer: more than a reader follows.
pub(super) const REFERENCES_MAX: usize = 8;
/// Characters of a question that are read; more are refused before.
pub(super) const QUESTION_CHARS_MAX: usize = 4_000;
/// Earlier questions of a session that a question can refer to.
pub(super) const EARLIER_TURNS_MAX: usize = 3;
/// Words of a topic that are searched for.
pub(super) const TOPIC_WORDS_MAX: usize = 24;
/// Mentioned names that are looked up.
pub(super) const MENTIONS_MAX: usize = 4;
/// Ordinary words of a question that are looked up as names of what others implement.
pub(super) const WORDS_LOOKED_UP_MAX: usize = 16;
/// Results of a search that are looked at.
pub(super) const HITS_MAX: usize = 24;
/// Symbols of a name that are looked at.
pub(super) const SYMBOLS_MAX: usize = 64;
/// Uses of a name that are looked at.
pub(super) const USES_MAX: usize = 400;
/// Uses that an answer names.
pub(super) const USES_SHOWN_MAX: usize = 6;
/// Characters of a quoted line of code or signature.
pub(super) const CODE_CHARS_MAX: usize = 160;
/// Characters of an unknown name that an answer repeats.
pub(super) const REPEATED_CHARS_MAX: usize = 80;
/// Names that one sentence lists.
pub(super) const LISTED_NAMES_MAX: usize = 12;
/// Lines before and after a use that are shown with it.
pub(super) const USE_CONTEXT_LINES: u32 = 2;

/// Characters of the passages in a prompt: what small models read, with the rest of the prompt.
pub(super) const PROMPT_PASSAGES_CHARS_MAX: usize = 24_000;
/// Characters of each earlier question in a prompt.
pub(super) const PROMPT_EARLIER_CHARS_MAX: usize = 500;
/// Characters of a model's text that are read.
pub(super) const MODEL_TEXT_CHARS_MAX: usize = 16_000;
/// Digits of a citation's number.
pub(super) const CITATION_DIGITS_MAX: usize = 3;
