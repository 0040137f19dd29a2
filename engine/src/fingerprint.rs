//! 128 bits that stand for any bytes, keyed by a secret of this process.
//!
//! XXH3 as its authors define it, with a secret that is random in all its bytes. A seed would not do: secrets that are
//! made of one differ from the default by it alone, and in long inputs whole blocks can then be made to cancel each
//! other without knowing it. By chance no two inputs meet. Who wants two to meet does not see what they become, and has to
//! guess 32 bits of the secret at least for each pair of long ones that they try.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_secret};

/// Bytes of a secret that XXH3 is at home with.
const SECRET_BYTES: usize = 192;

static SECRET: LazyLock<[u8; SECRET_BYTES]> = LazyLock::new(|| {
    // SipHash with a random key: each of its numbers is as good as random.
    let random = RandomState::new();
    let mut secret = [0; SECRET_BYTES];
    for (number, part) in (0_u64..).zip(secret.as_chunks_mut().0) {
        *part = random.hash_one(number).to_le_bytes();
    }
    secret
});

/// The fingerprint of these bytes. It means something within this process only.
#[inline]
pub(crate) fn fingerprint(bytes: &[u8]) -> u128 {
    xxh3_128_with_secret(bytes, &*SECRET)
}

/// What makes a fingerprint, by `digest128`, of bytes that come in parts.
pub(crate) fn fingerprinter() -> Xxh3 {
    Xxh3::with_secret(*SECRET)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn texts_of_every_length_that_differ_in_one_bit_have_different_fingerprints() {
        let text: Vec<u8> = (0..600_u32).map(|i| (i * i / 8) as u8).collect();
        let mut known = HashSet::new();
        for length in (0..600).step_by(7) {
            let mut text = text[..length].to_vec();
            assert_eq!(fingerprint(&text), fingerprint(&text.clone()));
            assert!(known.insert(fingerprint(&text)), "{length}");
            for bit in (0..8 * length).step_by(37) {
                text[bit / 8] ^= 1 << (bit % 8);
                assert!(known.insert(fingerprint(&text)), "{length} {bit}");
                text[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
