//! The limits of requests to a language model.

/// Bytes of a response: an answer of the length that is asked for takes a few KiB.
pub(super) const RESPONSE_BYTES_MAX: usize = 1 << 20;
/// Tokens of an answer.
pub(super) const ANSWER_TOKENS_MAX: u32 = 1_024;
/// Characters that are kept of an error of the server.
pub(super) const ERROR_CHARS_MAX: usize = 300;
