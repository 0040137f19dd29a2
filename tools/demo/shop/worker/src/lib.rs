//! The jobs of the shop that nobody waits for.

mod picture;
mod thumbnails;

pub use picture::Picture;
pub use thumbnails::{ThumbnailError, WIDTHS, make_thumbnails};
