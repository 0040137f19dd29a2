//! Damaged bytes are an error, or change nothing.

use super::super::{Index, IndexError};
use super::sample::{build, repository};

/// Opens bytes that differ from those of the sample. Whatever is opened must give what the sample
/// gives.
fn check(bytes: Vec<u8>, what: &str) {
    let Ok(index) = Index::open(bytes) else { return };
    let sample = Index::open(build(repository())).unwrap();
    assert_eq!(index.counts(), sample.counts(), "{what}");
    assert_eq!(index.search("expired entries", 9), sample.search("expired entries", 9), "{what}");
    for entry in sample.files() {
        assert_eq!(index.text(entry.id), sample.text(entry.id), "{what}");
        assert_eq!(index.outline(entry.id), sample.outline(entry.id), "{what}");
    }
}

#[test]
fn every_truncation_is_noticed() {
    let bytes = build(repository());
    for length in 0..bytes.len() {
        assert!(Index::open(bytes[..length].to_vec()).is_err(), "{length}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(Index::open(longer).is_err());
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = build(repository());
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        check(damaged, &format!("bit {bit}"));
    }
}

/// Damage that the checksums do not show, because they are those of the damaged bytes.
#[test]
fn damage_with_right_checksums_does_not_panic() {
    let bytes = build(repository());
    let header = 9;
    let sections = 9;
    let mut start = header + sections * 16 + 8;
    for section in 0..sections {
        let at = header + section * 16;
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        for byte in start..start + length {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[byte] = value;
                let checksum = xxhash_rust::xxh3::xxh3_64(&damaged[start..start + length]);
                damaged[at + 8..at + 16].copy_from_slice(&checksum.to_le_bytes());
                let end = header + sections * 16;
                let checksum = xxhash_rust::xxh3::xxh3_64(&damaged[..end]);
                damaged[end..end + 8].copy_from_slice(&checksum.to_le_bytes());
                use_all(damaged);
            }
        }
        start += length;
    }
    assert_eq!(start, bytes.len());
}

/// Uses everything of an index, whatever comes of it.
fn use_all(bytes: Vec<u8>) {
    let Ok(index) = Index::open(bytes) else { return };
    let results = index.search("Removes expired entries of the parser", 9);
    let names: usize = ["Cache", "evict_expired", "cache"]
        .map(|name| {
            let symbols = index.symbols(name, 9).map_or(0, |symbols| symbols.len());
            symbols + index.references(name, 9).map_or(0, |references| references.len())
        })
        .iter()
        .sum();
    for entry in index.files() {
        let texts = [index.text(entry.id).is_ok(), index.outline(entry.id).is_ok()];
        assert!(texts.len() + names + index.chunks(entry.id).count() > 0);
    }
    assert!(results.is_err() || index.memory_bytes() > 0);
}

#[test]
fn another_version_is_named() {
    let mut bytes = build(repository());
    bytes[8] = 77;
    assert_eq!(Index::open(bytes).unwrap_err(), IndexError::UnsupportedVersion { version: 77 });
}
