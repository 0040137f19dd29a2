//! Finds the regions that changed.
//!
//! The compared area is divided into square tiles. While pixels are compared, each tile records how
//! many of its pixels differ and the smallest rectangle around them. Afterwards, tiles with
//! differing pixels that touch each other, at a side or a corner, are connected; the pixels of
//! connected tiles are one region, and its rectangle is the smallest around them. The time is
//! linear in the number of tiles, and the memory small beside that of the pictures.
//!
//! So two differing pixels are always in the same region if they are at most [`Tile::SIDE`] pixels
//! apart in both directions, and never without others between them if they are twice as far apart.
//! Rectangles of different regions may overlap: one region may surround another.

use std::cmp::Reverse;

use super::limits::CHANGED_REGIONS_MAX;
use super::rectangle::Rectangle;

/// A region that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedRegion {
    /// The smallest rectangle around the differing pixels.
    pub rectangle: Rectangle,
    /// The number of differing pixels.
    pub diff_pixels: u64,
}

/// The differing pixels of a square of the compared area, or of several.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    diff_pixels: u32,
    left: u32,
    top: u32,
    /// The first column to the right, and the first row below.
    right: u32,
    bottom: u32,
}

impl Tile {
    /// Pixels of the width and of the height of a tile: about a line of text.
    pub(super) const SIDE: usize = 16;

    /// A tile without differing pixels.
    pub(super) const EMPTY: Self =
        Self { diff_pixels: 0, left: u32::MAX, top: u32::MAX, right: 0, bottom: 0 };

    /// Returns the number of tiles that a row of `width` pixels crosses.
    pub(super) fn columns(width: usize) -> usize {
        width.div_ceil(Self::SIDE)
    }

    /// Counts a differing pixel.
    #[inline]
    pub(super) fn add(&mut self, x: usize, y: usize) {
        let (x, y) = (x as u32, y as u32);
        self.extend(&Self { diff_pixels: 1, left: x, top: y, right: x + 1, bottom: y + 1 });
    }

    pub(super) fn diff_pixels(&self) -> u64 {
        u64::from(self.diff_pixels)
    }

    #[inline]
    fn extend(&mut self, other: &Self) {
        self.diff_pixels += other.diff_pixels;
        self.left = self.left.min(other.left);
        self.top = self.top.min(other.top);
        self.right = self.right.max(other.right);
        self.bottom = self.bottom.max(other.bottom);
    }

    fn region(&self) -> ChangedRegion {
        let rectangle = Rectangle {
            x: self.left,
            y: self.top,
            width: self.right - self.left,
            height: self.bottom - self.top,
        };
        ChangedRegion { rectangle, diff_pixels: self.diff_pixels() }
    }
}

/// Returns the largest regions, by the area of their rectangles, and the number of all. The tiles
/// are in rows of `columns`.
pub(super) fn largest_regions(mut tiles: Vec<Tile>, columns: usize) -> (Vec<ChangedRegion>, usize) {
    let mut regions = Vec::new();
    for start in 0..tiles.len() {
        if tiles[start].diff_pixels > 0 {
            regions.push(take_connected(&mut tiles, columns, start).region());
        }
    }
    let count = regions.len();
    let order = |region: &ChangedRegion| {
        let Rectangle { x, y, .. } = region.rectangle;
        (Reverse(region.rectangle.pixels()), y, x)
    };
    if count > CHANGED_REGIONS_MAX {
        regions.select_nth_unstable_by_key(CHANGED_REGIONS_MAX, order);
        regions.truncate(CHANGED_REGIONS_MAX);
    }
    regions.sort_by_key(order);
    (regions, count)
}

/// Returns the union of the tiles that are connected with a tile, and empties them.
fn take_connected(tiles: &mut [Tile], columns: usize, start: usize) -> Tile {
    let mut union = Tile::EMPTY;
    let mut found = vec![start];
    while let Some(index) = found.pop() {
        let tile = std::mem::replace(&mut tiles[index], Tile::EMPTY);
        if tile.diff_pixels == 0 {
            continue;
        }
        union.extend(&tile);
        let (column, row) = (index % columns, index / columns);
        let neighbours = (row.saturating_sub(1)..=row + 1)
            .flat_map(|row| {
                (column.saturating_sub(1)..=column + 1).map(move |column| (column, row))
            })
            .filter(|(column, _)| *column < columns)
            .map(|(column, row)| row * columns + column);
        found.extend(
            neighbours.filter(|index| {
                tiles.get(*index).is_some_and(|neighbour| neighbour.diff_pixels > 0)
            }),
        );
    }
    union
}
