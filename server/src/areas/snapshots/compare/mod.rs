//! Compares two pictures of a page as people see them, and draws the differences.
//!
//! The comparison is that of pixelmatch 7.2: a pixel differs when its colour is perceptibly
//! different (`colour`) and the difference is not anti-aliasing (`anti_aliasing`). The number of
//! differing pixels and the drawing (`marks`) are the same as those of pixelmatch. Equal stretches
//! are skipped (`rows`), and bands of rows are compared on several threads (`bands`). Differing
//! pixels near each other are one changed region (`regions`).
//!
//! PNG files are decoded with limits that are checked before memory is allocated (`decode`). The
//! folder knows nothing of pages, baselines, HTTP or the engine.

mod anti_aliasing;
mod bands;
mod colour;
mod decode;
mod diff_picture;
mod difference;
mod encode;
mod error;
mod ignored;
mod limits;
mod marks;
mod options;
mod picture;
mod pictures;
mod plane;
mod rectangle;
mod regions;
mod rows;
#[cfg(test)]
mod tests;

pub use diff_picture::DiffPicture;
pub use difference::Difference;
pub use error::{CompareError, EncodeError, OptionsError, PictureError};
pub use limits::{
    CHANGED_REGIONS_MAX, IGNORED_REGIONS_MAX, PICTURE_FILE_BYTES_MAX, PICTURE_PIXELS_MAX,
    PICTURE_SIDE_MAX, PNG_METADATA_BYTES_MAX,
};
pub use options::CompareOptions;
pub use picture::Picture;
pub use pictures::{compare, compare_png};
pub use rectangle::Rectangle;
pub use regions::ChangedRegion;
