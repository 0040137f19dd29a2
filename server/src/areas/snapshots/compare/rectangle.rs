//! Rectangles of pixels.

/// A rectangle of pixels. It may extend beyond a picture; the part outside has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rectangle {
    /// Pixels to the left of the rectangle.
    pub x: u32,
    /// Pixels above the rectangle.
    pub y: u32,
    /// Pixels of the width.
    pub width: u32,
    /// Pixels of the height.
    pub height: u32,
}

impl Rectangle {
    /// Returns the number of pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}
