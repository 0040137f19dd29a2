//! Why a picture or a comparison is refused.

use thiserror::Error;

use super::limits::{
    IGNORED_REGIONS_MAX, PICTURE_FILE_BYTES_MAX, PICTURE_PIXELS_MAX, PICTURE_SIDE_MAX,
    PNG_METADATA_BYTES_MAX,
};

/// Why a picture is refused.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The file is larger than [`PICTURE_FILE_BYTES_MAX`].
    #[error("the PNG file has {bytes} bytes, more than {PICTURE_FILE_BYTES_MAX}")]
    FileTooLarge {
        /// Bytes of the file.
        bytes: usize,
    },
    /// A side is empty or longer than [`PICTURE_SIDE_MAX`].
    #[error(
        "the picture is {width} x {height} pixels, and a side has 1 to {PICTURE_SIDE_MAX} pixels"
    )]
    InvalidSide {
        /// Pixels of the width.
        width: u32,
        /// Pixels of the height.
        height: u32,
    },
    /// The picture has more pixels than [`PICTURE_PIXELS_MAX`].
    #[error("the picture has {pixels} pixels, more than {PICTURE_PIXELS_MAX}")]
    TooManyPixels {
        /// Pixels of the picture.
        pixels: u64,
    },
    /// The number of bytes is not that of a picture of this size.
    #[error("a picture of this size has {expected} bytes, and {bytes} are present")]
    WrongLength {
        /// Bytes that a picture of this size has.
        expected: u64,
        /// Bytes that are present.
        bytes: usize,
    },
    /// The PNG file is an animation.
    #[error("the PNG file is animated; a picture has one frame")]
    Animated,
    /// The metadata of the PNG file exceeds [`PNG_METADATA_BYTES_MAX`].
    #[error("the metadata of the PNG file exceeds {PNG_METADATA_BYTES_MAX} bytes")]
    TooMuchMetadata,
    /// The PNG file ends before the end of the picture.
    #[error("the PNG file is truncated")]
    Truncated,
    /// The file is no valid PNG file.
    #[error("the PNG file is corrupt: {0}")]
    Corrupt(#[source] png::DecodingError),
}

impl From<png::DecodingError> for PictureError {
    fn from(error: png::DecodingError) -> Self {
        match error {
            png::DecodingError::IoError(error)
                if error.kind() == std::io::ErrorKind::UnexpectedEof =>
            {
                Self::Truncated
            }
            png::DecodingError::LimitsExceeded => Self::TooMuchMetadata,
            error => Self::Corrupt(error),
        }
    }
}

/// The picture could not be encoded.
#[derive(Debug, Error)]
#[error("the picture could not be encoded as PNG: {0}")]
pub struct EncodeError(#[from] png::EncodingError);

/// Why an option of a comparison is refused.
#[derive(Debug, Error, PartialEq)]
pub enum OptionsError {
    /// The threshold is not between 0 and 1.
    #[error("the threshold of a comparison is between 0 and 1, not {0}")]
    Threshold(f64),
    /// More than [`IGNORED_REGIONS_MAX`] regions are ignored.
    #[error("{0} regions are ignored, more than {IGNORED_REGIONS_MAX}")]
    TooManyIgnoredRegions(usize),
}

/// Why two pictures cannot be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// The baseline is refused.
    #[error("the baseline cannot be compared: {0}")]
    Baseline(#[source] PictureError),
    /// The snapshot is refused.
    #[error("the snapshot cannot be compared: {0}")]
    Snapshot(#[source] PictureError),
    /// Each picture has a valid size, and the area that contains both has not.
    #[error("the area of both pictures has {pixels} pixels, more than {PICTURE_PIXELS_MAX}")]
    UnionTooLarge {
        /// Pixels of the area that contains both pictures.
        pixels: u64,
    },
}
