//! The pixels of a picture, or of its upper left part.

/// Red, green, blue and alpha.
pub(super) type Pixel = [u8; 4];

/// Borrowed pixels, row by row. Coordinates inside are a precondition of all functions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane<'a> {
    pixels: &'a [Pixel],
    stride: usize,
    width: usize,
    height: usize,
}

impl<'a> Plane<'a> {
    /// Returns the plane of all pixels of a picture.
    pub(super) fn new(pixels: &'a [Pixel], width: usize, height: usize) -> Self {
        Self { pixels, stride: width, width, height }
    }

    /// Returns the upper left part.
    pub(super) fn cropped(self, width: usize, height: usize) -> Self {
        Self { width: self.width.min(width), height: self.height.min(height), ..self }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Returns a pixel.
    #[inline]
    pub(super) fn pixel(&self, x: usize, y: usize) -> Pixel {
        self.pixels[y * self.stride + x]
    }

    /// Returns the pixels of a row.
    pub(super) fn row(&self, y: usize) -> &'a [Pixel] {
        &self.pixels[y * self.stride..][..self.width]
    }

    /// Returns the 3 x 3 pixels around a pixel that is not at an edge, row by row.
    #[inline]
    pub(super) fn window(&self, x: usize, y: usize) -> Option<[[Pixel; 3]; 3]> {
        if x == 0 || y == 0 || x + 1 >= self.width || y + 1 >= self.height {
            return None;
        }
        let row = |y: usize| self.pixels[y * self.stride + x - 1..].first_chunk().copied();
        Some([row(y - 1)?, row(y)?, row(y + 1)?])
    }

    /// Returns the neighbours of a pixel that may be at an edge, column by column.
    pub(super) fn neighbours(&self, x: usize, y: usize) -> impl Iterator<Item = Neighbour> {
        let columns = x.saturating_sub(1)..(x + 2).min(self.width);
        let rows = y.saturating_sub(1)..(y + 2).min(self.height);
        let places = columns.flat_map(move |column| rows.clone().map(move |row| (column, row)));
        let others = places.filter(move |place| *place != (x, y));
        others.map(|(x, y)| Neighbour { x, y, pixel: self.pixel(x, y) })
    }
}

/// A pixel next to another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) pixel: Pixel,
}
