//! Tests of writes of which a part reached a file with zeros written ahead, or without.

use std::fs;

use super::super::read::testing::scan_file;
use super::super::recovery_tests::{Segment, read_segment, segment, single_write};
use super::super::scan::{Scanned, SegmentBounds};
use super::super::segment::{FRAME_HEADER_BYTES, LARGE_SECTOR_BYTES, SECTOR_BYTES, Segments};
use super::super::segment_file::Writes;
use super::super::writer::{FileOps, LogWriter};
use crate::model::Lsn;

/// Returns the file of a segment that was just created.
fn new_segment() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::new(dir.path().to_owned());
    let writer = LogWriter::create(segments.clone(), Lsn(1), Writes::Durable, FileOps::system());
    // An end of the writer cuts the zeros off.
    let bytes = fs::read(segments.path(Lsn(1))).unwrap();
    drop(writer.unwrap());
    bytes
}

/// Returns the records that are reported as lost.
fn lost(scanned: &Scanned) -> Vec<u64> {
    scanned.damage.iter().flat_map(|damage| damage.records.clone()).collect()
}

#[test]
fn a_write_cut_before_zeros_written_ahead_is_not_damage() {
    for ahead in [1, 4_096] {
        let Segment { mut bytes, frames } = single_write();
        let end = bytes.len();
        bytes.resize(end + ahead, 0);
        for cut in frames[1]..end {
            let mut left = bytes.clone();
            left[cut..].fill(0);
            let (records, scanned) = read_segment(&left);
            let intact = if cut < frames[2] { 1 } else { 2 };
            assert_eq!(records, ["first", "second"][..intact], "cut at {cut}, {ahead} zeros");
            assert_eq!((scanned.next.0, scanned.damage), (intact as u64 + 1, vec![]), "at {cut}");
        }
    }
}

#[test]
fn a_new_segment_that_lost_sectors_or_its_end_is_not_damage() {
    let whole = new_segment();
    // Each half starts with a header, and is zeros after it.
    assert_eq!(whole.len(), 2 * LARGE_SECTOR_BYTES);
    let lost_sectors = [(0, 0), (0, 1), (1, 2), (0, 2)].map(|(from, until)| {
        let mut left = whole.clone();
        left[from * LARGE_SECTOR_BYTES..until * LARGE_SECTOR_BYTES].fill(0);
        left
    });
    let cut = (0..whole.len()).map(|end| whole[..end].to_vec());
    for (n, left) in lost_sectors.into_iter().chain(cut).enumerate() {
        let (records, scanned) = read_segment(&left);
        assert_eq!((records.len(), scanned.next, scanned.damage), (0, Lsn(1), vec![]), "case {n}");
    }
}

#[test]
fn a_cut_at_the_end_of_a_block_is_not_damage() {
    let payload = vec![1; LARGE_SECTOR_BYTES - SECTOR_BYTES];
    let Segment { mut bytes, frames } = segment(&[&[&payload]]);
    let padding = bytes.len().next_multiple_of(LARGE_SECTOR_BYTES) - bytes.len();
    let payload = vec![1; payload.len() + padding];
    bytes = segment(&[&[&payload]]).bytes;
    assert!(bytes.len().is_multiple_of(LARGE_SECTOR_BYTES));
    bytes[frames[0] + FRAME_HEADER_BYTES + 700..].fill(0);
    let (records, scanned) = read_segment(&bytes);
    assert_eq!((records.len(), scanned.damage), (0, vec![]));
    assert_eq!(scanned.torn.map(|torn| torn.bytes.start), Some(frames[0]));
}

#[test]
fn damage_to_a_last_record_that_ends_in_zeros_is_reported_where_no_zeros_are_written_ahead() {
    let Segment { bytes, frames } = segment(&[&[b"first"], &[b"last\0\0\0"]]);
    for at in frames[1]..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 4;
        let (records, scanned) = read_segment(&bad);
        assert_eq!((records.len(), lost(&scanned), scanned.torn), (1, vec![2], None), "at {at}");
    }
}

#[test]
fn a_write_cut_after_it_was_acknowledged_is_damage() {
    let Segment { bytes, frames } = single_write();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{:020}.log", 1));
    for cut in frames[2]..bytes.len() {
        let mut left = [&bytes[..cut], &[0; 64][..]].concat();
        left.resize(bytes.len() + 4_096, 0);
        fs::write(&path, &left).unwrap();
        let bounds = SegmentBounds { next_first: None, acknowledged: Some(Lsn(3)) };
        let scanned = scan_file(&path, bounds, |_, _| Ok(())).unwrap();
        assert_eq!((lost(&scanned), scanned.torn), (vec![3], None), "cut at {cut}");
    }
}
