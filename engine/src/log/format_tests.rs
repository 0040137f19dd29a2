//! Tests of the bytes of segments: of the current format and of older versions.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::recovery_tests::{SALT, read_segment};
use super::scan::{SegmentBounds, scan};
use super::segment::{
    Format, LSN_MAX, SECOND_HEADER_AT, Segments, first_lsn, frame_at, header, put_frame,
};
use super::torn::zero_sectors;
use crate::model::Lsn;

#[test]
fn a_segment_has_golden_bytes() {
    let mut bytes = header(Lsn(0x0102), Lsn(0x0101), SALT).to_vec();
    put_frame(&mut bytes, 0, SALT, (Lsn(0x0102), Lsn(0x0101)), b"ab\0");
    let (first_header, rest) = bytes.split_at(SECOND_HEADER_AT);
    let golden = bytes_of(GOLDEN_HEADER);
    assert_eq!(first_header, [&golden[..], &[0; 4_096 - 48]].concat());
    assert_eq!(rest, [golden, bytes_of(GOLDEN_FRAME)].concat());
    // The payload occupies the last bytes of 480, then a sector of zeros and one that starts with
    // zeros.
    assert_eq!(zero_sectors(&[0; 600], 0), 2);
    assert_eq!(zero_sectors(&[0; 600], 500), 3);
    assert_eq!(zero_sectors(&[&[1][..], &[0; 600]].concat(), 500), 2);
    assert_eq!(zero_sectors(&[], 7), 0);
}

const GOLDEN_HEADER: &str = "54454c4c54414c450300000000000000020100000000000001010000000000000807060504030201e8e16abb19e930fb";

const GOLDEN_FRAME: &str =
    "2e7a117e03000000020100000000000001010000000000009b1f1522a60cb2ef0000000006323a0d616200";

#[test]
fn segments_of_version_2_are_read() {
    let intact = bytes_of(GOLDEN_2);
    let mut read = Vec::new();
    let path = Path::new("00000000000000000258.log");
    let scanned = scan(path, &intact, SegmentBounds::default(), |lsn, payload| {
        read.push((lsn, payload.to_vec()));
        Ok(())
    });
    let scanned = scanned.unwrap();
    assert_eq!(read, [(Lsn(0x0102), b"ab\0".to_vec())]);
    assert_eq!((scanned.next, scanned.damage, scanned.torn), (Lsn(0x0103), vec![], None));
}

const GOLDEN_2: &str = "54454c4c54414c45020000000000000002010000000000000101000000000000d238aee27bcff3222e7a117e0300000002010000000000\
    000101000000000000e27e394da626ea590000000024c0c0d8616200";

#[test]
fn segments_with_both_headers_in_their_first_two_sectors_are_read() {
    let header_area = header(Lsn(1), Lsn(0), SALT);
    let header = &header_area[SECOND_HEADER_AT..];
    let mut bytes = [header, &[0; 512 - 48], header].concat();
    put_frame(&mut bytes, 0, SALT, (Lsn(1), Lsn(0)), b"first");
    // With both headers, then with the second one only.
    for lost in [0..0, 0..512] {
        bytes[lost].fill(0);
        let (records, scanned) = read_segment(&bytes);
        assert_eq!(records, ["first"]);
        assert_eq!((scanned.next, scanned.damage, scanned.torn), (Lsn(2), vec![], None));
    }
}

pub(super) fn bytes_of(hex: &str) -> Vec<u8> {
    let two = hex.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
    two.map(|two| u8::from_str_radix(two, 16).unwrap()).collect()
}

#[test]
fn segments_of_version_1_are_read_by_their_own_rules() {
    // Two records, "first" and "second", as written by the version of the program before format
    // version 2.
    let intact = bytes_of(GOLDEN_1);
    let second = 32 + 24 + 5;
    let (records, scanned) = read_segment(&intact);
    assert_eq!(
        (records.as_slice(), scanned.next),
        (&["first".to_owned(), "second".into()][..], Lsn(3))
    );
    assert_eq!((scanned.damage, scanned.torn), (vec![], None));
    for cut in second..intact.len() {
        let (records, scanned) = read_segment(&intact[..cut]);
        assert_eq!(
            (records.len(), scanned.damage.len(), scanned.next),
            (1, 0, Lsn(2)),
            "cut at {cut}"
        );
    }
    for at in 32..intact.len() {
        let mut bad = intact.clone();
        bad[at] ^= 0x10;
        let (records, scanned) = read_segment(&bad);
        assert_eq!((records.len(), scanned.damage.len()), (1, 1), "flipped at {at}");
    }
}

pub(super) const GOLDEN_1: &str = "54454c4c54414c45010000000000000001000000000000002e8d01a8b0c350171e7a117e0500000001000000000000004eee77f48c497a\
    ae66697273741e7a117e060000000200000000000000e5f00043653781597365636f6e64";

#[test]
fn a_frame_with_a_number_above_the_maximum_is_ignored() {
    for (number, is_one) in [(LSN_MAX.0, true), (LSN_MAX.0 + 1, false)] {
        let mut bytes = Vec::new();
        put_frame(&mut bytes, 0, SALT, (Lsn(number), Lsn(number - 1)), b"ab");
        let found = frame_at(&bytes, 0, Format::Salted(SALT)).map(|frame| frame.lsn);
        assert_eq!(found, is_one.then_some(Lsn(number)));
        let named = first_lsn(Path::new(&format!("{number:020}.log")));
        assert_eq!(named, is_one.then_some(Lsn(number)));
    }
    let mut bytes = Vec::new();
    put_frame(&mut bytes, 0, SALT, (Lsn(7), Lsn(7)), b"ab");
    assert!(
        frame_at(&bytes, 0, Format::Salted(SALT)).is_none(),
        "its own number was acknowledged before it was written"
    );
}

#[test]
fn the_size_of_an_unreadable_segment_is_an_error_and_that_of_a_deleted_one_zero() {
    let dir = TempDir::new().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let path = |first: u64| dir.path().join(format!("{first:020}.log"));
    fs::write(path(1), [0; 7]).unwrap();
    std::os::unix::fs::symlink("nowhere", path(2)).unwrap();
    assert_eq!(segments.bytes().unwrap(), 7);
    std::os::unix::fs::symlink(path(3), path(3)).unwrap();
    assert!(segments.bytes().is_err());
}
