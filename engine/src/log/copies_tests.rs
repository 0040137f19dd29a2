//! Tests of second copies of definitions with a model of the log that loses each of its sectors in
//! turn.

use std::ops::Range;

use proptest::prelude::*;

use super::definition_copies::DefinitionCopies;
use super::record::{Definitions, Record, SeriesDefined};
use super::segment::{FRAME_HEADER_BYTES, HEADER_BYTES, LARGE_SECTOR_BYTES};
use super::writer::LogPosition;
use crate::model::{MetricId, SeriesId, Tags};

#[derive(Clone, Debug)]
enum Step {
    /// This many new series with tags of this many bytes, and writes of these sizes in bytes.
    Group { series: u32, tag_bytes: usize, writes: Vec<usize> },
    /// The segment is full, or was abandoned after a failure.
    NewSegment,
    /// All earlier records are in blocks.
    Seal,
    /// The process ends and another one reads the log.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let series = prop_oneof![3 => Just(0u32), 4 => 1u32..3, 2 => 3u32..60];
    let write = prop_oneof![4 => 1usize..200, 1 => 200usize..6_000];
    let group = (series, 1usize..200, prop::collection::vec(write, 1..6))
        .prop_map(|(series, tag_bytes, writes)| Step::Group { series, tag_bytes, writes });
    prop_oneof![20 => group, 1 => Just(Step::NewSegment), 1 => Just(Step::Seal), 2 => Just(Step::Restart)]
}

/// A frame of the log.
#[derive(Debug)]
struct Frame {
    segment: u64,
    bytes: Range<u64>,
    /// The series that it defines.
    defines: Vec<u32>,
    /// For a write: it may refer to the series below this one.
    needs: Option<u32>,
}

impl Frame {
    /// Returns whether a part of it is in a sector.
    fn is_in(&self, segment: u64, sector: u64) -> bool {
        let large = LARGE_SECTOR_BYTES as u64;
        let sectors = self.bytes.start / large..=(self.bytes.end - 1) / large;
        self.segment == segment && sectors.contains(&sector)
    }
}

struct Log {
    copies: DefinitionCopies,
    frames: Vec<Frame>,
    position: LogPosition,
    /// The next series, and the first one that is not in blocks.
    next: u32,
    unsealed: u32,
}

fn definition(id: u32, tag_bytes: usize) -> SeriesDefined {
    let value = "v".repeat(tag_bytes);
    let tags = Tags::new(&[("key", value.as_str())]).unwrap();
    SeriesDefined { id: SeriesId(id), metric: MetricId(1), tags }
}

fn defined(series: Vec<SeriesDefined>) -> Definitions {
    Definitions { metrics: Vec::new(), series }
}

impl Log {
    fn new() -> Self {
        let position = LogPosition { segment: 0, offset: HEADER_BYTES as u64 };
        let copies = DefinitionCopies::new(Definitions::default());
        Self { copies, frames: Vec::new(), position, next: 0, unsealed: 0 }
    }

    fn push(&mut self, payload: &[u8], needs: Option<u32>) {
        let start = self.position.offset;
        self.position.offset += (FRAME_HEADER_BYTES + payload.len()) as u64;
        let series = match needs {
            Some(_) => Vec::new(),
            None => Record::decode(payload).unwrap().definitions.series,
        };
        let defines = series.iter().map(|series| series.id.0).collect();
        let (segment, bytes) = (self.position.segment, start..self.position.offset);
        self.frames.push(Frame { segment, bytes, defines, needs });
    }

    fn group(&mut self, series: u32, tag_bytes: usize, writes: &[usize]) {
        let new = (self.next..self.next + series).map(|id| definition(id, tag_bytes)).collect();
        let definitions = defined(new);
        let writes: Vec<Vec<u8>> = writes.iter().map(|bytes| vec![7; *bytes]).collect();
        let payloads = writes.iter().map(Vec::as_slice);
        let layout = self.copies.lay_out(self.position, &definitions, payloads);
        self.next += series;
        layout.before().iter().for_each(|payload| self.push(payload, None));
        writes.iter().for_each(|write| self.push(write, Some(self.next)));
        layout.after().for_each(|payload| self.push(payload, None));
        self.copies.written(&layout, definitions);
    }

    fn new_segment(&mut self) {
        self.position =
            LogPosition { segment: self.position.segment + 1, offset: HEADER_BYTES as u64 };
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Group { series, tag_bytes, writes } => self.group(*series, *tag_bytes, writes),
            Step::NewSegment => self.new_segment(),
            Step::Seal => {
                for payload in self.copies.lay_out_rest(self.position) {
                    self.push(&payload, None);
                }
                self.copies.clear();
                self.check();
                assert!(self.defined_once().is_empty(), "no copy is written after the seal");
                self.frames.clear();
                self.unsealed = self.next;
                self.new_segment();
            }
            Step::Restart => {
                let once = self.defined_once();
                let once = once.into_iter().map(|id| definition(id, 5)).collect();
                self.copies = DefinitionCopies::new(defined(once));
                self.new_segment();
            }
        }
    }

    fn defined_once(&self) -> Vec<u32> {
        let copies = |id: &u32| self.frames.iter().filter(|f| f.defines.contains(id)).count();
        (self.unsealed..self.next).filter(|id| copies(id) < 2).collect()
    }

    /// Checks for each lost sector that the writes outside it can be read.
    fn check(&self) {
        for segment in 0..=self.position.segment {
            let of_segment = self.frames.iter().filter(|frame| frame.segment == segment);
            let end = of_segment.map(|frame| frame.bytes.end).max().unwrap_or(0);
            for sector in 0..=end / LARGE_SECTOR_BYTES as u64 {
                let left = || self.frames.iter().filter(|frame| !frame.is_in(segment, sector));
                let mut known = vec![false; self.next as usize];
                left().flat_map(|frame| &frame.defines).for_each(|id| known[*id as usize] = true);
                let lost = (self.unsealed..self.next).find(|id| !known[*id as usize]);
                let needs = left().filter_map(|frame| frame.needs).max().unwrap_or(0);
                assert!(
                    lost.is_none_or(|lost| needs <= lost),
                    "sector {sector} of segment {segment} contains series {lost:?} of {needs} that a write may refer to"
                );
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.frames.iter().map(|frame| frame.bytes.end - frame.bytes.start).sum()
    }
}

proptest! {
    #[test]
    fn no_lost_sector_makes_writes_outside_it_unreadable(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut log = Log::new();
        for step in &steps {
            log.run(step);
            log.check();
        }
    }
}

#[test]
fn writes_without_definitions_add_nothing() {
    let mut log = Log::new();
    (0..1_000).for_each(|_| log.group(0, 1, &[60, 700]));
    assert_eq!(log.bytes(), 1_000 * (760 + 2 * FRAME_HEADER_BYTES as u64));
}

#[test]
fn series_defined_one_by_one_take_less_than_twice_their_definitions() {
    const SERIES: u64 = 10_000;
    let mut log = Log::new();
    (0..SERIES).for_each(|_| log.group(1, 60, &[60]));
    let writes = SERIES * (60 + FRAME_HEADER_BYTES as u64);
    let once: u64 = {
        let mut plain = Log::new();
        plain.group(1, 60, &[60]);
        plain.bytes() - 60 - FRAME_HEADER_BYTES as u64
    };
    let bytes = log.bytes() - writes;
    assert!(bytes < SERIES * once * 2, "{bytes} bytes for {SERIES} series of {once}");
}

#[test]
fn many_series_at_once_take_at_most_twice_their_definitions_and_a_sector() {
    let mut log = Log::new();
    log.group(10_000, 60, &[50]);
    let definitions: Vec<u64> = log
        .frames
        .iter()
        .filter(|frame| !frame.defines.is_empty())
        .map(|frame| frame.bytes.end - frame.bytes.start)
        .collect();
    assert_eq!(definitions.len(), 2);
    let both: u64 = definitions.iter().sum();
    let more = log.bytes() - both - 50 - FRAME_HEADER_BYTES as u64;
    assert!(more <= LARGE_SECTOR_BYTES as u64 + FRAME_HEADER_BYTES as u64, "{more} bytes");
}

#[test]
fn pending_definitions_count_as_memory_until_their_copy_is_written() {
    let mut log = Log::new();
    assert_eq!(log.copies.bytes(), 0);
    log.group(2, 450, &[10]);
    log.group(1, 450, &[10]);
    let pending = log.copies.bytes();
    assert!((3 * 450..2_000).contains(&pending), "{pending}");
    log.run(&Step::NewSegment);
    log.group(0, 0, &[10]);
    assert_eq!(log.copies.bytes(), 0);
    log.group(1, 450, &[10]);
    assert_ne!(log.copies.bytes(), 0);
    log.run(&Step::Seal);
    assert_eq!(log.copies.bytes(), 0);
    log.copies = DefinitionCopies::new(defined(vec![definition(9, 450)]));
    assert!((450..900).contains(&log.copies.bytes()), "{}", log.copies.bytes());
}
