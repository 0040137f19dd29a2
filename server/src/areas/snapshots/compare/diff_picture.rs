//! The drawing of a comparison.

use super::encode::encode_marks;
use super::error::EncodeError;
use super::marks::PALETTE;

/// A drawn comparison: differing pixels are red, anti-aliased ones yellow, and the others show the
/// baseline as faded grey.
#[derive(Clone, PartialEq, Eq)]
pub struct DiffPicture {
    width: u32,
    height: u32,
    marks: Vec<u8>,
}

impl DiffPicture {
    pub(super) fn new(width: u32, height: u32, marks: Vec<u8>) -> Self {
        Self { width, height, marks }
    }

    /// Returns the number of pixels of a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns four bytes for each pixel, row by row from the top, as pixelmatch draws them.
    pub fn to_rgba(&self) -> Vec<u8> {
        let pixels = self.marks.iter().map(|mark| PALETTE[usize::from(*mark)]);
        pixels.flat_map(|[red, green, blue]| [red, green, blue, 255]).collect()
    }

    /// Returns the drawing as a PNG file with a palette.
    pub fn to_png(&self) -> Result<Vec<u8>, EncodeError> {
        encode_marks(self.width, self.height, &self.marks)
    }
}

impl std::fmt::Debug for DiffPicture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { width, height, .. } = self;
        write!(formatter, "DiffPicture({width} x {height})")
    }
}
