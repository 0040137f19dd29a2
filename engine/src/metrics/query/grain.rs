//! Where only cells are left that are wider than the buckets that were asked for.
//!
//! Such a cell is not cut: the range is widened to whole cells there, and a cell, with every sample that lies in it wherever
//! that is kept, belongs to the bucket that its start lies in. The bucket then covers the whole cell, and the buckets that are left
//! inside the cell hold nothing.

use super::super::block::Tier;
use super::super::catalog::Cluster;
use super::super::resolution::{Neighbours, stretches};
use crate::model::{CoarseRange, Interval, MetricType, TimeRange, TimestampMs};

/// A part of the range that is read in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) range: TimeRange,
    /// The width of the cells that decide about the bucket; none where every instant has its own.
    pub(super) grain: Option<Interval>,
}

impl Part {
    /// The same part, within `range` only.
    pub(super) fn within(self, range: TimeRange) -> Self {
        Self { range: self.range.intersect(range), ..self }
    }
}

/// A range, widened to whole cells, and its coarse parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grains {
    pub(super) range: TimeRange,
    pub(super) interval: Interval,
    /// Where the range was widened, or an interval is not made of whole cells. In the order of time, without overlap.
    pub(super) coarse: Vec<CoarseRange>,
}

impl Grains {
    pub(super) fn new(
        clusters: &[Cluster],
        kind: MetricType,
        asked: TimeRange,
        interval: Interval,
    ) -> Self {
        let mut grains = Self { range: asked, interval, coarse: Vec::new() };
        let finest = Tier::finest(kind);
        for cluster in clusters {
            let units = cluster.units.iter();
            for stretch in stretches(cluster.window, finest, units, Neighbours::Join) {
                let inside = stretch.window.intersect(asked);
                if stretch.tier == finest || inside.is_empty() {
                    continue;
                }
                let Some(width) = stretch.tier.width() else { continue };
                let range = inside.widen_to(width);
                if range != inside || !interval.is_multiple_of(width) {
                    grains.add(CoarseRange { range, width });
                }
            }
        }
        grains
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

    /// The coarse part that holds an instant.
    pub(super) fn at(&self, time: TimestampMs) -> Option<Interval> {
        let next = self.coarse.partition_point(|part| part.range.end <= time);
        let part = self.coarse.get(next).filter(|part| part.range.contains(time))?;
        self.grain_of(part)
    }

    /// Cuts the range into its parts.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut from = self.range.start;
        for coarse in &self.coarse {
            parts.push(Part {
                range: TimeRange { start: from, end: coarse.range.start },
                grain: None,
            });
            parts.push(Part { range: coarse.range, grain: self.grain_of(coarse) });
            from = coarse.range.end;
        }
        parts.push(Part { range: TimeRange { start: from, end: self.range.end }, grain: None });
        parts.retain(|part| !part.range.is_empty());
        parts
    }

    /// The milliseconds of the range whose samples belong to a bucket.
    pub(super) fn covered_ms(&self, bucket: TimeRange) -> i64 {
        let mut covered = bucket.intersect(self.range).len_ms();
        let first = self.coarse.partition_point(|part| part.range.end <= bucket.start);
        let coarse = self.coarse.get(first..).unwrap_or_default();
        for part in coarse.iter().take_while(|part| part.range.start < bucket.end) {
            let Some(width) = self.grain_of(part) else { continue };
            let inside = part.range.intersect(bucket);
            let cells =
                TimeRange { start: inside.start.ceil_to(width), end: inside.end.ceil_to(width) };
            covered += cells.len_ms() - inside.len_ms();
        }
        covered
    }

    /// Buckets of whole cells need no grain.
    fn grain_of(&self, part: &CoarseRange) -> Option<Interval> {
        (!self.interval.is_multiple_of(part.width)).then_some(part.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn grains(interval_minutes: i64) -> Grains {
        let coarse = |start: i64, end: i64, width| CoarseRange {
            range: TimeRange::new(start * MINUTE, end * MINUTE),
            width,
        };
        Grains {
            range: TimeRange::new(0, 300 * MINUTE),
            interval: Interval::from_ms(interval_minutes * MINUTE).unwrap(),
            coarse: vec![coarse(60, 180, Interval::HOUR), coarse(180, 240, Interval::FIVE_MINUTES)],
        }
    }

    fn covered(grains: &Grains) -> Vec<i64> {
        let width = grains.interval.ms();
        let buckets = (0..300 * MINUTE).step_by(width as usize);
        buckets
            .map(|start| grains.covered_ms(TimeRange::new(start, start + width)) / MINUTE)
            .collect()
    }

    #[test]
    fn every_minute_is_covered_by_the_bucket_of_its_cell() {
        for minutes in [1, 5, 7, 30, 45, 60, 90] {
            let grains = grains(minutes);
            let mut expected = vec![0; 300_usize.div_ceil(minutes as usize)];
            for minute in 0..300 {
                let time = TimestampMs(minute * MINUTE);
                let start = grains.at(time).map_or(time, |grain| time.floor_to(grain));
                expected[(start.0 / MINUTE / minutes) as usize] += 1;
            }
            assert_eq!(covered(&grains), expected, "{minutes}m");
        }
    }

    #[test]
    fn parts_are_the_range_without_gaps() {
        let parts = grains(1).parts();
        let shape: Vec<_> = parts
            .iter()
            .map(|p| {
                let minutes = p.grain.map_or(0, |grain| grain.ms() / MINUTE);
                (p.range.start.0 / MINUTE, p.range.end.0 / MINUTE, minutes)
            })
            .collect();
        assert_eq!(shape, [(0, 60, 0), (60, 180, 60), (180, 240, 5), (240, 300, 0)]);
        assert_eq!(grains(60).parts().iter().filter(|p| p.grain.is_some()).count(), 0);
    }
}
