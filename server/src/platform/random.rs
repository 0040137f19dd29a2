//! The only source of randomness.

use getrandom::Error;

/// Returns unpredictable bytes from the operating system.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    #[expect(clippy::disallowed_methods, reason = "this is the replacement that the lint names")]
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
