//! Compares two pictures row by row.
//!
//! The compared area contains both pictures, with their upper left corners in the same place. A
//! pixel that is not in both pictures differs. The part that is in both is compared as pixelmatch
//! compares two pictures of that size.

use super::anti_aliasing::is_anti_aliased;
use super::bands::Band;
use super::colour::{Place, distance_max, squared_distance};
use super::ignored::compared_spans;
use super::marks::{ANTI_ALIASED, BLANK, DIFFERENT, shade};
use super::options::CompareOptions;
use super::picture::Picture;
use super::plane::{Pixel, Plane};
use super::rectangle::Rectangle;
use super::regions::Tile;

/// Pixels that are compared at a time: a cache line.
const CHUNK: usize = 16;

/// Two pictures and how they are compared.
#[derive(Debug)]
pub(super) struct PicturePair<'a> {
    baseline: Plane<'a>,
    snapshot: Plane<'a>,
    common_baseline: Plane<'a>,
    common_snapshot: Plane<'a>,
    distance_max: f64,
    ignored: &'a [Rectangle],
}

impl<'a> PicturePair<'a> {
    pub(super) fn new(
        baseline: &'a Picture,
        snapshot: &'a Picture,
        options: &'a CompareOptions,
    ) -> Self {
        let [baseline, snapshot] = [baseline, snapshot].map(Picture::plane);
        Self {
            baseline,
            snapshot,
            common_baseline: baseline.cropped(snapshot.width(), snapshot.height()),
            common_snapshot: snapshot.cropped(baseline.width(), baseline.height()),
            distance_max: distance_max(options.threshold()),
            ignored: options.ignored_regions(),
        }
    }

    /// Returns the width of the area that contains both pictures.
    pub(super) fn width(&self) -> usize {
        self.baseline.width().max(self.snapshot.width())
    }

    /// Returns the height of the area that contains both pictures.
    pub(super) fn height(&self) -> usize {
        self.baseline.height().max(self.snapshot.height())
    }

    /// Draws a band, and counts its differing pixels in its tiles.
    pub(super) fn mark(&self, band: Band<'_>) {
        let mut spans = Vec::new();
        let tile_rows = band.tiles.chunks_exact_mut(Tile::columns(self.width()));
        let mark_rows = band.marks.chunks_mut(self.width() * Tile::SIDE);
        let mut y = band.first_row;
        for (tiles, rows) in tile_rows.zip(mark_rows) {
            for marks in rows.chunks_exact_mut(self.width()) {
                self.draw_faded(y, marks);
                compared_spans(self.ignored, y, self.width(), &mut spans);
                let mut row = MarkedRow { marks, tiles, y };
                for span in &spans {
                    let common = if y < self.common_baseline.height() {
                        span.end.min(self.common_baseline.width()).max(span.start)
                    } else {
                        span.start
                    };
                    self.mark_common(span.start, common, &mut row);
                    (common..span.end).for_each(|x| row.mark_different(x));
                }
                y += 1;
            }
        }
    }

    /// Draws a row of the baseline. What only the snapshot has is drawn from it.
    fn draw_faded(&self, y: usize, marks: &mut [u8]) {
        let row = |plane: &Plane<'a>| if y < plane.height() { plane.row(y) } else { &[] };
        let (baseline, snapshot) = (row(&self.baseline), row(&self.snapshot));
        let (baseline_marks, rest) = marks.split_at_mut(baseline.len());
        shade(baseline, baseline_marks);
        let snapshot = snapshot.get(baseline.len()..).unwrap_or_default();
        let (snapshot_marks, rest) = rest.split_at_mut(snapshot.len());
        shade(snapshot, snapshot_marks);
        rest.fill(BLANK);
    }

    /// Marks the differing pixels from `start` to `end` of a row that both pictures have.
    fn mark_common(&self, start: usize, end: usize, row: &mut MarkedRow<'_>) {
        if start == end {
            return;
        }
        let (baseline, snapshot) = (&self.common_baseline, &self.common_snapshot);
        let pixels = [baseline, snapshot].map(|plane| &plane.row(row.y)[start..end]);
        let first_place = row.y * baseline.width() + start;
        for_each_unequal(pixels, |offset, [before, after]| {
            let place = Place(first_place + offset);
            if squared_distance(before, after, place) <= self.distance_max {
                return;
            }
            let (x, y) = (start + offset, row.y);
            if is_anti_aliased(baseline, snapshot, x, y)
                || is_anti_aliased(snapshot, baseline, x, y)
            {
                row.marks[x] = ANTI_ALIASED;
            } else {
                row.mark_different(x);
            }
        });
    }
}

/// Calls `visit` with the place and the pixels of every pair of unequal pixels. Equal stretches are
/// skipped a row, or a chunk, at a time.
fn for_each_unequal([left, right]: [&[Pixel]; 2], mut visit: impl FnMut(usize, [Pixel; 2])) {
    if left == right {
        return;
    }
    let (left_chunks, left_rest) = left.as_chunks::<CHUNK>();
    let (right_chunks, right_rest) = right.as_chunks::<CHUNK>();
    let mut compare = |first: usize, left: &[Pixel], right: &[Pixel]| {
        for (place, (left, right)) in (first..).zip(left.iter().zip(right)) {
            if left != right {
                visit(place, [*left, *right]);
            }
        }
    };
    for (number, (left, right)) in left_chunks.iter().zip(right_chunks).enumerate() {
        if left != right {
            compare(number * CHUNK, left, right);
        }
    }
    compare(left.len() - left_rest.len(), left_rest, right_rest);
}

/// A row of the drawing, and the tiles that it crosses.
#[derive(Debug)]
struct MarkedRow<'a> {
    marks: &'a mut [u8],
    tiles: &'a mut [Tile],
    y: usize,
}

impl MarkedRow<'_> {
    fn mark_different(&mut self, x: usize) {
        self.marks[x] = DIFFERENT;
        self.tiles[x / Tile::SIDE].add(x, self.y);
    }
}
