//! Tests of what a log returns after crashes and damage: every acknowledged record, or a report of
//! its loss.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::acknowledged_mark::AcknowledgedMark;
use super::format_tests::{GOLDEN_1, bytes_of};
use super::read::testing::scan_file;
use super::read::{LogRead, read_log};
use super::scan::{Scanned, SegmentBounds};
use super::segment::{
    FRAME_HEADER_BYTES, HEADER_BYTES, SECOND_HEADER_AT, SECTOR_BYTES, Salt, Segments, header,
    put_frame,
};
use super::segment_file::Writes;
use super::writer::{FileOps, LogWriter};
use crate::model::Lsn;

pub(super) const SALT: Salt = Salt(0x0102_0304_0506_0708);

/// A segment in memory as the writer creates it: groups of records, each written after the previous
/// one was acknowledged.
pub(super) struct Segment {
    pub(super) bytes: Vec<u8>,
    /// The offset of each frame.
    pub(super) frames: Vec<usize>,
}

pub(super) fn segment(groups: &[&[&[u8]]]) -> Segment {
    let mut bytes = header(Lsn(1), Lsn(0), SALT).to_vec();
    let (mut frames, mut lsn) = (Vec::new(), Lsn(1));
    for group in groups {
        let acknowledged = Lsn(lsn.0 - 1);
        for payload in *group {
            frames.push(bytes.len());
            put_frame(&mut bytes, 0, SALT, (lsn, acknowledged), payload);
            lsn = lsn.next();
        }
    }
    Segment { bytes, frames }
}

/// Returns a segment with one write of three records.
pub(super) fn single_write() -> Segment {
    segment(&[&[b"first", b"second", b"third"]])
}

pub(super) fn read_segment(bytes: &[u8]) -> (Vec<String>, Scanned) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(format!("{:020}.log", 1));
    fs::write(&path, bytes).unwrap();
    let mut records = Vec::new();
    let scanned = scan_file(&path, SegmentBounds::default(), |_, payload| {
        records.push(String::from_utf8_lossy(payload).into_owned());
        Ok(())
    });
    (records, scanned.unwrap())
}

#[test]
fn a_torn_end_is_not_damage() {
    let Segment { bytes, frames } = single_write();
    for cut in frames[2]..bytes.len() {
        let (records, scanned) = read_segment(&bytes[..cut]);
        assert_eq!(records, ["first", "second"], "cut at {cut}");
        assert_eq!((scanned.next, scanned.damage), (Lsn(3), vec![]));
        let torn = scanned.torn.map(|torn| torn.bytes);
        assert_eq!(torn, (cut > frames[2]).then_some(frames[2]..cut));
    }
}

#[test]
fn an_end_of_zeros_is_not_damage() {
    let Segment { bytes, .. } = single_write();
    // The length of the file was on disk before its bytes.
    for zeros in [1, 23, 24, 39, 40, 41, 4_096] {
        let (records, scanned) = read_segment(&[&bytes[..], &vec![0; zeros]].concat());
        assert_eq!(records, ["first", "second", "third"]);
        assert_eq!((scanned.next, scanned.damage), (Lsn(4), vec![]), "{zeros} zeros");
    }
    let (records, scanned) = read_segment(&[0; 4_096]);
    assert_eq!((records.len(), scanned.next, scanned.damage), (0, Lsn(1), vec![]));
}

#[test]
fn a_flipped_bit_loses_one_record_and_is_reported() {
    for (segment, last_group) in
        [(single_write(), 1), (segment(&[&[b"first"], &[b"second"], &[b"third"]]), 3)]
    {
        let Segment { bytes, frames } = segment;
        // A few of the zeros between the headers suffice.
        for at in
            (0..64).chain((64..SECOND_HEADER_AT).step_by(97)).chain(SECOND_HEADER_AT..bytes.len())
        {
            for bit in 0..8 {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                let hit = frames.iter().rposition(|start| *start <= at);
                let (records, scanned) = read_segment(&bad);
                let mut wanted = vec!["first", "second", "third"];
                hit.map(|hit| wanted.remove(hit));
                assert_eq!(records, wanted, "bit {bit} of {at}, {last_group}");
                let lost = hit.map_or(1..1, |hit| hit as u64 + 1..hit as u64 + 2);
                let lost_records: Vec<_> = scanned.damage.into_iter().map(|d| d.records).collect();
                assert_eq!((lost_records, scanned.torn), (vec![lost], None), "bit {bit} of {at}");
                assert_eq!(scanned.next, Lsn(4));
            }
        }
    }
}

#[test]
fn a_lost_sector_is_damage_if_it_was_acknowledged_and_the_end_otherwise() {
    let noise: Vec<u8> = (1..=255).cycle().take(3 * SECTOR_BYTES).collect();
    let acknowledged = segment(&[&[&noise], &[b"next"]]);
    let not_acknowledged = segment(&[&[&noise, b"next"]]);
    for (Segment { mut bytes, .. }, wanted) in
        [(acknowledged, (1, 1, Lsn(3))), (not_acknowledged, (0, 0, Lsn(1)))]
    {
        let lost = (HEADER_BYTES / SECTOR_BYTES + 1) * SECTOR_BYTES;
        bytes[lost..lost + SECTOR_BYTES].fill(0);
        let (records, scanned) = read_segment(&bytes);
        assert_eq!((records.len(), scanned.damage.len(), scanned.next), wanted);
        assert_eq!(scanned.torn.is_some(), wanted.0 == 0);
    }
}

#[test]
fn written_zeros_do_not_count_as_lost_sectors() {
    let zeros = vec![0; 4 * SECTOR_BYTES];
    let Segment { mut bytes, frames } = segment(&[&[b"first", &zeros, b"third"]]);
    bytes[frames[1] + FRAME_HEADER_BYTES + 3] = 1;
    let (records, scanned) = read_segment(&bytes);
    assert_eq!(records, ["first", "third"]);
    assert_eq!((scanned.damage.len(), scanned.torn), (1, None));
}

/// A log on disk, written by the log writer.
struct Log {
    dir: TempDir,
    writer: LogWriter,
    written: Vec<Vec<u8>>,
}

impl Log {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let writer =
            LogWriter::create(segments, Lsn(1), Writes::Cached, FileOps::system()).unwrap();
        Self { dir, writer, written: Vec::new() }
    }

    fn write(&mut self, group: &[Vec<u8>]) {
        let payloads: Vec<&[u8]> = group.iter().map(Vec::as_slice).collect();
        self.writer.append(&payloads, false).unwrap();
        self.written.extend_from_slice(group);
    }

    /// Makes all writes after `acknowledged` look as if they were in progress when the process
    /// died.
    fn acknowledge_only(&self, acknowledged: Lsn) {
        AcknowledgedMark::open(self.dir.path()).set(acknowledged);
    }

    fn segments(&self) -> Vec<(Lsn, PathBuf)> {
        Segments::new(self.dir.path().to_owned()).list().unwrap()
    }

    fn newest(&self) -> PathBuf {
        self.segments().pop().unwrap().1
    }

    /// Restarts with the files on disk. Returns what was read.
    fn restart(&mut self) -> (Vec<Vec<u8>>, LogRead) {
        let (records, read) = read(self.dir.path(), Lsn(0));
        let segments = Segments::new(self.dir.path().to_owned());
        self.writer =
            LogWriter::create(segments, read.next, Writes::Cached, FileOps::system()).unwrap();
        self.written = records.clone();
        (records, read)
    }
}

fn read(dir: &Path, sealed: Lsn) -> (Vec<Vec<u8>>, LogRead) {
    let mut records = Vec::new();
    let segments = Segments::new(dir.to_owned()).look().unwrap();
    let read = read_log(&segments, sealed, |_, payload| {
        records.push(payload.to_vec());
        Ok(())
    });
    (records, read.unwrap())
}

#[test]
fn the_loss_of_an_acknowledged_end_is_reported() {
    let mut log = Log::new();
    let mut starts = Vec::new();
    for n in 1..=3u8 {
        starts.push(fs::metadata(log.newest()).unwrap().len() as usize);
        log.write(&[vec![n; 700]]);
    }
    let path = log.newest();
    let intact = fs::read(&path).unwrap();
    for from in HEADER_BYTES..intact.len() {
        let lost_from = starts.iter().rposition(|start| *start <= from).unwrap() as u64 + 1;
        let zeroed = [&intact[..from], &vec![0; intact.len() - from]].concat();
        for damaged in [&intact[..from], &zeroed] {
            fs::write(&path, damaged).unwrap();
            let (records, read) = read(log.dir.path(), Lsn(0));
            assert_eq!(records.len() as u64, lost_from - 1, "from {from}");
            let report = read.damaged.join("; ");
            let lost = if lost_from == 3 { "3..4".into() } else { format!("{lost_from}..") };
            assert!(report.contains(&format!("records {lost}")), "from {from}: {report}");
            assert_eq!((read.next, read.torn.len()), (Lsn(4), 0), "numbers are not reused");
        }
    }
}

/// Checks that damage to the header of the record `sent` between two others, at any byte, loses
/// only that record.
fn check_damaged_header_before_data(sent: &[u8]) {
    let Segment { bytes, frames } = segment(&[&[b"first"], &[sent], &[b"third"]]);
    for at in frames[1]..frames[1] + FRAME_HEADER_BYTES {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        let (records, scanned) = read_segment(&bad);
        assert_eq!(records, ["first", "third"], "flipped at {at}");
        assert_eq!((scanned.next, scanned.damage.len()), (Lsn(4), 1));
    }
}

#[test]
fn a_frame_sent_by_a_client_with_a_number_far_ahead_is_ignored() {
    let mut forged = Vec::new();
    put_frame(&mut forged, 0, SALT, (Lsn(1 << 61), Lsn((1 << 61) - 1)), b"forged");
    let sent = [&[0xee; 900][..], &forged, &[0xee; 900]].concat();
    check_damaged_header_before_data(&sent);
    // The same in a write that a power loss tore before it was acknowledged.
    let mut torn = segment(&[&[b"first"], &[&sent]]);
    torn.bytes[torn.frames[1]..torn.frames[1] + FRAME_HEADER_BYTES].fill(0);
    let (records, scanned) = read_segment(&torn.bytes);
    assert_eq!((records.len(), scanned.next), (1, Lsn(2)));
    assert!(scanned.damage.is_empty() && scanned.torn.is_some());
}

#[test]
fn a_frame_sent_by_a_client_with_a_plausible_number_is_ignored() {
    // A client can guess the number and the format, but not the salt.
    let mut forged = Vec::new();
    put_frame(&mut forged, 0, Salt(0), (Lsn(2), Lsn(1)), b"forged");
    put_frame(&mut forged, 0, Salt(0), (Lsn(3), Lsn(1)), b"forged too");
    forged.extend_from_slice(&bytes_of(GOLDEN_1)[32..]);
    let sent = [&[0xee; 900][..], &forged, &[0xee; 900]].concat();
    check_damaged_header_before_data(&sent);
}

#[test]
fn a_lost_header_loses_no_record() {
    let Segment { mut bytes, .. } = single_write();
    bytes[..SECTOR_BYTES].fill(0);
    let (records, scanned) = read_segment(&bytes);
    assert_eq!((records.len(), scanned.damage.len()), (3, 1), "{:?}", scanned.damage);
    assert!(scanned.damage[0].to_string().ends_with("no record is lost"));
}

#[test]
fn a_lost_sector_of_4096_bytes_loses_only_the_records_in_it() {
    let payloads: Vec<String> =
        [(700, "a"), (5_000, "b"), (100, "c"), (9_000, "d"), (300, "e"), (4_000, "f")]
            .map(|(length, letter)| letter.repeat(length))
            .to_vec();
    let groups: Vec<[&[u8]; 1]> = payloads.iter().map(|payload| [payload.as_bytes()]).collect();
    let groups: Vec<&[&[u8]]> = groups.iter().map(<[&[u8]; 1]>::as_slice).collect();
    let Segment { bytes, frames } = segment(&groups);
    let ends = frames.iter().skip(1).copied().chain([bytes.len()]);
    let records: Vec<_> = frames.iter().copied().zip(ends).zip(&payloads).collect();
    for start in (0..bytes.len()).step_by(4_096) {
        let end = bytes.len().min(start + 4_096);
        let mut bad = bytes.clone();
        bad[start..end].fill(0);
        let (left, scanned) = read_segment(&bad);
        let outside = records.iter().filter(|((from, to), _)| *to <= start || *from >= end);
        let wanted: Vec<&String> = outside.map(|(_, payload)| *payload).collect();
        assert!(left.iter().eq(wanted), "{start}: {} left", left.len());
        assert!(!scanned.damage.is_empty() || scanned.torn.is_some(), "{start}: it is reported");
    }
}

#[test]
fn a_damaged_header_of_a_segment_without_records_loses_nothing() {
    let empty = header(Lsn(1), Lsn(0), SALT);
    let with_zeros_ahead = [&empty[..], &[0; 4_048]].concat();
    for file in [&empty[..], &with_zeros_ahead] {
        for at in 0..empty.len() {
            let mut bad = file.to_vec();
            bad[at] ^= 1;
            let (records, scanned) = read_segment(&bad);
            assert!(records.is_empty() && scanned.damage.is_empty(), "flipped at {at}");
        }
    }
}

#[test]
fn an_abandoned_failed_write_is_not_damage() {
    let mut log = Log::new();
    log.write(&[b"first".to_vec()]);
    // Two records that were never acknowledged; the second is cut off, and both numbers are not
    // reused.
    let length = fs::metadata(log.newest()).unwrap().len();
    log.write(&[b"second".to_vec(), b"third".to_vec()]);
    let bytes = fs::read(log.newest()).unwrap();
    let path = log.newest();
    fs::write(&path, &bytes[..length as usize]).unwrap();
    log.written.truncate(1);
    let segments = Segments::new(log.dir.path().to_owned());
    let mut after = header(Lsn(4), Lsn(1), SALT).to_vec();
    put_frame(&mut after, 0, SALT, (Lsn(4), Lsn(1)), b"fourth");
    put_frame(&mut after, 0, SALT, (Lsn(5), Lsn(4)), b"fifth");
    fs::write(segments.path(Lsn(4)), after).unwrap();
    for left in [length as usize, length as usize + 10, bytes.len() - 1, bytes.len()] {
        fs::write(&path, &bytes[..left]).unwrap();
        let (records, read) = read(log.dir.path(), Lsn(0));
        assert_eq!(read.damaged, [""; 0], "{left} bytes left of {}", bytes.len());
        assert_eq!(records.last().unwrap(), b"fifth");
        assert_eq!(read.next, Lsn(6));
    }
}

#[test]
fn records_numbered_like_those_of_the_next_segment_are_ignored() {
    let mut log = Log::new();
    log.write(&[b"first".to_vec()]);
    log.write(&[b"left behind".to_vec(), b"as well".to_vec()]);
    log.acknowledge_only(Lsn(1));
    let segments = Segments::new(log.dir.path().to_owned());
    let mut after = header(Lsn(2), Lsn(1), SALT).to_vec();
    put_frame(&mut after, 0, SALT, (Lsn(2), Lsn(1)), b"second");
    fs::write(segments.path(Lsn(2)), after).unwrap();
    let (records, read) = read(log.dir.path(), Lsn(0));
    assert_eq!((records, read.damaged), (vec![b"first".to_vec(), b"second".to_vec()], vec![]));
    assert_eq!(read.next, Lsn(3));
}

#[test]
fn missing_and_truncated_segments_are_reported() {
    let mut log = Log::new();
    for n in 0..3u8 {
        log.write(&[vec![n; 100], vec![n; 100]]);
        log.writer.rotate().unwrap();
    }
    let damaged = |sealed| read(log.dir.path(), sealed).1.damaged;
    assert_eq!(damaged(Lsn(0)), [""; 0]);
    let segments = log.segments();
    let firsts: Vec<u64> = segments.iter().map(|(first, _)| first.0).collect();
    assert_eq!(firsts, [1, 3, 5, 7]);
    // Cut at the end of a frame: the file itself looks undamaged.
    let bytes = fs::read(&segments[1].1).unwrap();
    fs::write(&segments[1].1, &bytes[..HEADER_BYTES + FRAME_HEADER_BYTES + 100]).unwrap();
    assert_eq!(damaged(Lsn(0)).len(), 1);
    fs::remove_file(&segments[1].1).unwrap();
    let reported = damaged(Lsn(0));
    assert!(reported.len() == 1 && reported[0].contains("records 3..5 are lost"), "{reported:?}");
    let first = fs::read(&segments[0].1).unwrap();
    fs::remove_file(&segments[0].1).unwrap();
    assert_eq!(damaged(Lsn(0)), ["the log lacks the records 1..5"]);
    fs::write(&segments[0].1, first).unwrap();
    assert_eq!(damaged(Lsn(4)), [""; 0], "they are in blocks");
    for (_, path) in &segments[2..] {
        fs::remove_file(path).unwrap();
    }
    let reported = damaged(Lsn(0));
    assert!(reported.len() == 1 && reported[0].contains("records 3..7 are lost"), "{reported:?}");
    assert_eq!(damaged(Lsn(4)).len(), 1);
    fs::remove_file(log.dir.path().join("ANSWERED")).unwrap();
    assert_eq!(damaged(Lsn(0)), [""; 0], "nothing refers to them");
    assert_eq!(damaged(Lsn(4)).len(), 1);
    fs::remove_file(&segments[0].1).unwrap();
    assert_eq!(damaged(Lsn(4)).len(), 1);
}

#[test]
fn a_damaged_mark_is_reported_and_the_log_is_read_without_it() {
    let mut log = Log::new();
    log.write(&[b"first".to_vec()]);
    fs::write(log.dir.path().join("ANSWERED"), [1; 24]).unwrap();
    let read = read(log.dir.path(), Lsn(0)).1;
    assert_eq!((read.records, read.next, read.damaged.len()), (1, Lsn(2), 1), "{read:?}");
    assert!(read.damaged[0].contains("ANSWERED"), "{read:?}");
}

/// Payloads of all kinds: short and long, noise, and zeros that fill sectors.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => proptest::collection::vec(any::<u8>(), 0..90),
        1 => proptest::collection::vec(any::<u8>(), 400..1_500),
        1 => (1usize..2_000).prop_map(|zeros| vec![0; zeros]),
    ];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

fn groups(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    proptest::collection::vec(proptest::collection::vec(payload(), 1..5), count)
}

/// Returns what a power loss leaves of a file of which `synced` bytes were synced: each later
/// sector has its old or new contents, and the length is between the old and the new one.
fn lose_power(file: &[u8], synced: usize, length: usize, lost: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut left = file.to_vec();
    for (sector, bytes) in left.chunks_mut(SECTOR_BYTES).enumerate() {
        let start = sector * SECTOR_BYTES;
        if lost(sector) && start + bytes.len() > synced {
            bytes
                .iter_mut()
                .enumerate()
                .filter(|(i, _)| start + i >= synced)
                .for_each(|(_, b)| *b = 0);
        }
    }
    left.truncate(synced + length % (file.len() - synced + 1));
    left
}

proptest! {
    #[test]
    fn synced_records_survive_a_power_loss_and_no_damage_is_reported(
        before in groups(0..5), unsynced in groups(1..2), after in groups(1..3),
        length in any::<usize>(), cut in any::<bool>(), random_bits in any::<u64>(), whole_pages in any::<bool>(),
    ) {
        let mut log = Log::new();
        before.iter().for_each(|group| log.write(group));
        let path = log.newest();
        let synced = fs::metadata(&path).unwrap().len() as usize;
        let kept = log.written.clone();
        unsynced.iter().for_each(|group| log.write(group));
        let all = log.written.clone();
        log.acknowledge_only(Lsn(kept.len() as u64));
        let file = fs::read(&path).unwrap();
        let page = if whole_pages { 8 } else { 1 };
        let length = if cut { length } else { file.len() - synced };
        let lost = |sector: usize| random_bits.rotate_left((sector / page) as u32 % 64) & 1 == 1;
        fs::write(&path, lose_power(&file, synced, length, lost)).unwrap();

        let (records, read) = log.restart();
        prop_assert_eq!(&read.damaged, &[""; 0]);
        prop_assert!(records.starts_with(&kept) && all.starts_with(&records));
        // The same again, with the torn end before the new segment, and with writes in that.
        after.iter().for_each(|group| log.write(group));
        let (again, read) = self::read(log.dir.path(), Lsn(0));
        prop_assert_eq!(&read.damaged, &[""; 0]);
        prop_assert_eq!(again, log.written.clone());
    }

    #[test]
    fn a_flipped_bit_in_synced_records_loses_one_record_and_is_reported(
        groups in groups(1..6), at in any::<prop::sample::Index>(), bit in 0u8..8, rotate in any::<bool>(),
    ) {
        let mut log = Log::new();
        groups.iter().for_each(|group| log.write(group));
        let path = log.newest();
        if rotate {
            log.writer.rotate().unwrap();
        }
        let mut file = fs::read(&path).unwrap();
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        fs::write(&path, &file).unwrap();
        let (records, read) = read(log.dir.path(), Lsn(0));
        prop_assert_eq!(read.damaged.len(), 1, "{:?}", read.damaged);
        let lost = log.written.len() - records.len();
        prop_assert!(lost <= 1);
        let mut left = log.written.iter();
        prop_assert!(records.iter().all(|record| left.any(|written| written == record)));
        prop_assert_eq!(read.next, Lsn(log.written.len() as u64 + 1));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        groups in groups(1..4), splices in proptest::collection::vec((any::<prop::sample::Index>(), any::<[u8; 7]>()), 0..9),
    ) {
        let mut log = Log::new();
        groups.iter().for_each(|group| log.write(group));
        let mut file = fs::read(log.newest()).unwrap();
        for (at, bytes) in splices {
            let at = at.index(file.len());
            file.iter_mut().skip(at).zip(bytes).for_each(|(old, new)| *old = new);
        }
        fs::write(log.newest(), &file).unwrap();
        let (records, _) = read(log.dir.path(), Lsn(0));
        let mut written = log.written.iter();
        prop_assert!(records.iter().all(|record| written.any(|written| written == record)));
    }
}
