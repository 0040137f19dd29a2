//! Fingerprints of label sets, as Prometheus computes them.

use std::collections::BTreeMap;
use std::fmt;

/// The initial value and the multiplier of FNV-1a with 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
/// Follows each name and each value. Does not occur in UTF-8.
const SEPARATOR: u8 = 0xff;

/// The hash that identifies a label set: FNV-1a of its names and values, sorted by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Returns the fingerprint of a label set.
    pub fn of(labels: &BTreeMap<String, String>) -> Self {
        let mut hash = FNV_OFFSET;
        for part in labels.iter().flat_map(|(name, value)| [name, value]) {
            for byte in part.bytes().chain([SEPARATOR]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
            }
        }
        Self(hash)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_equal_those_of_prometheus() {
        // The expected numbers are those of the tests of `prometheus/common`.
        for (labels, expected) in [
            (&[][..], 14_695_981_039_346_656_037),
            (
                &[("name", "garland, briggs"), ("fear", "love is not enough")],
                5_799_056_148_416_392_346,
            ),
            (&[("first-label", "first-label-value")], 5_146_282_821_936_882_169),
            (
                &[
                    ("third-label", "third-label-value"),
                    ("second-label", "second-label-value"),
                    ("first-label", "first-label-value"),
                ],
                13_843_036_195_897_128_121,
            ),
        ] {
            let labels = labels.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            assert_eq!(Fingerprint::of(&labels).0, expected, "{labels:?}");
        }
    }

    #[test]
    fn fingerprints_have_sixteen_digits() {
        assert_eq!(Fingerprint(0xabc).to_string(), "0000000000000abc");
        let labels = BTreeMap::from([("alertname".to_owned(), "HighLatency".to_owned())]);
        assert_eq!(Fingerprint::of(&labels).to_string(), "73dbeed5635ea4e4");
    }
}
