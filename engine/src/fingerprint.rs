//! 128-bit fingerprints of byte strings, keyed by a secret of this process.
//!
//! Uses XXH3 as its authors define it, with a secret of random bytes. A seed is not enough: a
//! seeded secret differs from the default only by the seed, and blocks of a long input can be
//! chosen to cancel each other out without knowing the seed. Accidental collisions are negligible.
//! An attacker does not see the fingerprints, and must guess at least 32 bits of the secret for
//! each pair of long inputs.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_secret};

/// Bytes of the secret: the length of XXH3's default secret.
const SECRET_BYTES: usize = 192;

static SECRET: LazyLock<[u8; SECRET_BYTES]> = LazyLock::new(|| {
    // SipHash with a random key: each of its outputs is as good as random.
    let random = RandomState::new();
    let mut secret = [0; SECRET_BYTES];
    for (number, part) in (0_u64..).zip(secret.as_chunks_mut().0) {
        *part = random.hash_one(number).to_le_bytes();
    }
    secret
});

/// Returns the fingerprint of `bytes`. It is valid only within this process.
#[inline]
pub(crate) fn fingerprint(bytes: &[u8]) -> u128 {
    xxh3_128_with_secret(bytes, &*SECRET)
}

/// Returns a hasher for bytes that arrive in parts; its `digest128` equals [`fingerprint`] of the
/// whole.
pub(crate) fn fingerprinter() -> Xxh3 {
    Xxh3::with_secret(*SECRET)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn inputs_of_every_length_that_differ_in_one_bit_have_different_fingerprints() {
        let input: Vec<u8> = (0..600_u32).map(|i| (i * i / 8) as u8).collect();
        let mut known = HashSet::new();
        for length in (0..600).step_by(7) {
            let mut input = input[..length].to_vec();
            assert_eq!(fingerprint(&input), fingerprint(&input.clone()));
            assert!(known.insert(fingerprint(&input)), "{length}");
            for bit in (0..8 * length).step_by(37) {
                input[bit / 8] ^= 1 << (bit % 8);
                assert!(known.insert(fingerprint(&input)), "{length} {bit}");
                input[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
