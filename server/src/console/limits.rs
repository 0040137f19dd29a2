//! The limits of the console, each with its unit and its reason.

/// Sessions of the console, whatever `console.sessions` says: some 500 bytes each.
pub(super) const SESSIONS_MAX: usize = 100_000;
/// Characters of a browser's `User-Agent` that are kept: enough to recognise it.
pub(super) const SESSION_AGENT_CHARS_MAX: usize = 200;
/// Milliseconds for which a code opens a session: long enough to copy a link to another machine.
pub(super) const SIGN_IN_CODE_MS: i64 = 10 * 60 * 1_000;
/// Addresses whose attempts to sign in are counted one by one: some 3 MB. Others share a rate.
pub(super) const SIGN_IN_ADDRESSES_MAX: usize = 65_536;
/// Unused codes of one key; the oldest are deleted.
pub(super) const SIGN_IN_CODES_PER_KEY_MAX: usize = 10;
/// Unused codes of all keys; the oldest are deleted.
pub(super) const SIGN_IN_CODES_MAX: usize = 1_000;
