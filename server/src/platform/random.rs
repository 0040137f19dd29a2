//! The one door to randomness.

use getrandom::Error;

/// Bytes that nobody can guess, from the operating system.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    #[expect(clippy::disallowed_methods, reason = "this is the door that the lint points to")]
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
