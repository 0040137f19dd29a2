//! Divides the compared area into bands of rows, and compares them on several threads.
//!
//! Bands are small beside a picture, and each thread takes the next one when it is done with its
//! last, so that all threads are busy although differences are unevenly distributed.

use std::panic::resume_unwind;
use std::thread;

use parking_lot::Mutex;

use super::regions::Tile;

/// Pixels of a band at least: comparing fewer takes no longer than taking the next band.
const BAND_PIXELS: usize = 1 << 16;

/// Rows of the drawing and of the tiles that one thread writes.
#[derive(Debug)]
pub(super) struct Band<'a> {
    pub(super) first_row: usize,
    pub(super) marks: &'a mut [u8],
    pub(super) tiles: &'a mut [Tile],
}

/// Divides rows of `width` marks, and the rows of their tiles, into bands. No two bands have a tile
/// in common.
pub(super) fn bands<'a>(marks: &'a mut [u8], tiles: &'a mut [Tile], width: usize) -> Vec<Band<'a>> {
    let tile_rows = BAND_PIXELS.div_ceil(width * Tile::SIDE);
    let rows = tile_rows * Tile::SIDE;
    let marks = marks.chunks_mut(rows * width);
    let tiles = tiles.chunks_mut(tile_rows * Tile::columns(width));
    let numbered = marks.zip(tiles).enumerate();
    numbered
        .map(|(number, (marks, tiles))| Band { first_row: number * rows, marks, tiles })
        .collect()
}

/// Calls `work` with each band, on at most `threads_max` threads, of which the calling one is one.
pub(super) fn for_each_band(
    bands: Vec<Band<'_>>,
    threads_max: usize,
    work: impl Fn(Band<'_>) + Sync,
) {
    let threads = threads_max.min(bands.len());
    let bands = Mutex::new(bands.into_iter());
    let next = || bands.lock().next();
    let work_until_done = || {
        while let Some(band) = next() {
            work(band);
        }
    };
    thread::scope(|scope| {
        let spawn =
            || thread::Builder::new().name("compare".into()).spawn_scoped(scope, work_until_done);
        // If the system has no more threads, fewer do the same work.
        let others: Vec<_> = (1..threads).map_while(|_| spawn().ok()).collect();
        work_until_done();
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}
