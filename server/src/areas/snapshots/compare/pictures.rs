//! Compares two pictures, decoded or not.

use std::panic::resume_unwind;
use std::thread;

use super::bands::{bands, for_each_band};
use super::diff_picture::DiffPicture;
use super::difference::Difference;
use super::error::{CompareError, PictureError};
use super::limits::PICTURE_PIXELS_MAX;
use super::options::CompareOptions;
use super::picture::Picture;
use super::regions::{Tile, largest_regions};
use super::rows::PicturePair;

/// Compares a snapshot with its baseline. Pictures of different sizes are compared on the area that
/// contains both; what is not in both of them differs.
pub fn compare(
    baseline: &Picture,
    snapshot: &Picture,
    options: &CompareOptions,
) -> Result<Difference, CompareError> {
    let width = baseline.width().max(snapshot.width());
    let height = baseline.height().max(snapshot.height());
    let all_pixels = u64::from(width) * u64::from(height);
    if all_pixels > PICTURE_PIXELS_MAX {
        return Err(CompareError::UnionTooLarge { pixels: all_pixels });
    }
    let pair = PicturePair::new(baseline, snapshot, options);
    let columns = Tile::columns(pair.width());
    let mut marks = vec![0; pair.width() * pair.height()];
    let mut tiles = vec![Tile::EMPTY; columns * pair.height().div_ceil(Tile::SIDE)];
    let bands = bands(&mut marks, &mut tiles, pair.width());
    for_each_band(bands, options.threads_max(), |band| pair.mark(band));
    let diff_pixels = tiles.iter().map(Tile::diff_pixels).sum();
    let (regions, regions_total) = largest_regions(tiles, columns);
    Ok(Difference {
        diff_pixels,
        all_pixels,
        sizes_differ: [baseline.width(), baseline.height()]
            != [snapshot.width(), snapshot.height()],
        regions,
        regions_total,
        picture: DiffPicture::new(width, height, marks),
    })
}

/// Compares the PNG files of a snapshot and of its baseline.
pub fn compare_png(
    baseline: &[u8],
    snapshot: &[u8],
    options: &CompareOptions,
) -> Result<Difference, CompareError> {
    if baseline == snapshot {
        let picture = Picture::from_png(baseline).map_err(CompareError::Baseline)?;
        return compare(&picture, &picture, options);
    }
    let (baseline, snapshot) = decode_both(baseline, snapshot, options.threads_max());
    let baseline = baseline.map_err(CompareError::Baseline)?;
    let snapshot = snapshot.map_err(CompareError::Snapshot)?;
    compare(&baseline, &snapshot, options)
}

type Decoded = Result<Picture, PictureError>;

/// Decodes two PNG files, at the same time if there are threads for it.
fn decode_both(baseline: &[u8], snapshot: &[u8], threads_max: usize) -> (Decoded, Decoded) {
    if threads_max < 2 {
        return (Picture::from_png(baseline), Picture::from_png(snapshot));
    }
    thread::scope(|scope| {
        let other = thread::Builder::new()
            .name("decode".into())
            .spawn_scoped(scope, || Picture::from_png(snapshot));
        let baseline = Picture::from_png(baseline);
        let snapshot = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system has no more threads.
            Err(_) => Picture::from_png(snapshot),
        };
        (baseline, snapshot)
    })
}
