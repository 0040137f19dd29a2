//! Ranges in which only cells wider than the interval of the query are left.
//!
//! Such a cell is not split: the range is widened to whole cells there, and a cell, together with
//! all samples of its time range wherever they are stored, belongs to the bucket that contains the
//! start of the cell. That bucket then covers the whole cell, and the other buckets within the cell
//! are empty.

use super::super::block::Tier;
use super::super::catalog::Cluster;
use super::super::resolution::{Neighbours, stretches};
use crate::model::{CoarseRange, Interval, MetricType, TimeRange, TimestampMs};

/// A part of the range in which all data is assigned to buckets by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) range: TimeRange,
    /// The width of the cells whose starts determine the bucket; `None` where the time of each
    /// sample does.
    pub(super) cell_width: Option<Interval>,
}

impl Part {
    /// Returns the intersection of the part with `range`.
    pub(super) fn within(self, range: TimeRange) -> Self {
        Self { range: self.range.intersect(range), ..self }
    }
}

/// The range of a query, widened to whole cells, and its coarse parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadRange {
    pub(super) range: TimeRange,
    pub(super) interval: Interval,
    /// The parts where the range was widened, or where the interval is not a multiple of the cell
    /// width. In time order, without overlap.
    pub(super) coarse: Vec<CoarseRange>,
}

impl ReadRange {
    pub(super) fn new(
        clusters: &[Cluster],
        kind: MetricType,
        requested: TimeRange,
        interval: Interval,
    ) -> Self {
        let mut read_range = Self { range: requested, interval, coarse: Vec::new() };
        let finest = Tier::finest(kind);
        for cluster in clusters {
            let units = cluster.units.iter();
            for stretch in stretches(cluster.window, finest, units, Neighbours::Join) {
                let inside = stretch.window.intersect(requested);
                if stretch.tier == finest || inside.is_empty() {
                    continue;
                }
                let Some(width) = stretch.tier.width() else { continue };
                let range = inside.widen_to(width);
                if range != inside || !interval.is_multiple_of(width) {
                    read_range.add(CoarseRange { range, width });
                }
            }
        }
        read_range
    }

    fn add(&mut self, next: CoarseRange) {
        self.range.start = self.range.start.min(next.range.start);
        self.range.end = self.range.end.max(next.range.end);
        match self.coarse.last_mut() {
            Some(last) if last.width == next.width && last.range.end == next.range.start => {
                last.range.end = next.range.end;
            }
            _ => self.coarse.push(next),
        }
    }

    /// Returns the width of the cells that determine the bucket at `time`, if the time is in such a
    /// coarse part.
    pub(super) fn at(&self, time: TimestampMs) -> Option<Interval> {
        let next = self.coarse.partition_point(|part| part.range.end <= time);
        let part = self.coarse.get(next).filter(|part| part.range.contains(time))?;
        self.cell_width_of(part)
    }

    /// Cuts the range into parts, without gaps.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut from = self.range.start;
        for coarse in &self.coarse {
            parts.push(Part {
                range: TimeRange { start: from, end: coarse.range.start },
                cell_width: None,
            });
            parts.push(Part { range: coarse.range, cell_width: self.cell_width_of(coarse) });
            from = coarse.range.end;
        }
        parts
            .push(Part { range: TimeRange { start: from, end: self.range.end }, cell_width: None });
        parts.retain(|part| !part.range.is_empty());
        parts
    }

    /// Returns how many milliseconds of the range belong to a bucket.
    pub(super) fn covered_ms(&self, bucket: TimeRange) -> i64 {
        let mut covered = bucket.intersect(self.range).len_ms();
        let first = self.coarse.partition_point(|part| part.range.end <= bucket.start);
        let coarse = &self.coarse[first..];
        for part in coarse.iter().take_while(|part| part.range.start < bucket.end) {
            let Some(width) = self.cell_width_of(part) else { continue };
            let inside = part.range.intersect(bucket);
            let cells =
                TimeRange { start: inside.start.ceil_to(width), end: inside.end.ceil_to(width) };
            covered += cells.len_ms() - inside.len_ms();
        }
        covered
    }

    /// Returns the cell width of a coarse part; `None` when buckets consist of whole cells.
    fn cell_width_of(&self, part: &CoarseRange) -> Option<Interval> {
        (!self.interval.is_multiple_of(part.width)).then_some(part.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn read_range(interval_minutes: i64) -> ReadRange {
        let coarse = |start: i64, end: i64, width| CoarseRange {
            range: TimeRange::new(start * MINUTE, end * MINUTE),
            width,
        };
        ReadRange {
            range: TimeRange::new(0, 300 * MINUTE),
            interval: Interval::from_ms(interval_minutes * MINUTE).unwrap(),
            coarse: vec![coarse(60, 180, Interval::HOUR), coarse(180, 240, Interval::FIVE_MINUTES)],
        }
    }

    fn covered(range: &ReadRange) -> Vec<i64> {
        let width = range.interval.ms();
        let buckets = (0..300 * MINUTE).step_by(width as usize);
        buckets
            .map(|start| range.covered_ms(TimeRange::new(start, start + width)) / MINUTE)
            .collect()
    }

    #[test]
    fn every_minute_belongs_to_the_bucket_of_its_cell() {
        for minutes in [1, 5, 7, 30, 45, 60, 90] {
            let range = read_range(minutes);
            let mut expected = vec![0; 300_usize.div_ceil(minutes as usize)];
            for minute in 0..300 {
                let time = TimestampMs(minute * MINUTE);
                let start = range.at(time).map_or(time, |width| time.floor_to(width));
                expected[(start.0 / MINUTE / minutes) as usize] += 1;
            }
            assert_eq!(covered(&range), expected, "{minutes}m");
        }
    }

    #[test]
    fn parts_cover_the_range_without_gaps() {
        let parts = read_range(1).parts();
        let shape: Vec<_> = parts
            .iter()
            .map(|p| {
                let minutes = p.cell_width.map_or(0, |width| width.ms() / MINUTE);
                (p.range.start.0 / MINUTE, p.range.end.0 / MINUTE, minutes)
            })
            .collect();
        assert_eq!(shape, [(0, 60, 0), (60, 180, 60), (180, 240, 5), (240, 300, 0)]);
        assert_eq!(read_range(60).parts().iter().filter(|p| p.cell_width.is_some()).count(), 0);
    }
}
