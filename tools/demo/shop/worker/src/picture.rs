//! Pictures in memory.

/// A picture, as rows of pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rows: Vec<Vec<u32>>,
}

impl Picture {
    /// Returns a black picture.
    pub fn empty(width: u32, height: u32) -> Self {
        Self { width, height, rows: vec![vec![0; width as usize]; height as usize] }
    }

    /// Returns how many pixels it has.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Sets one pixel.
    pub fn set(&mut self, x: u32, y: u32, color: u32) {
        self.rows[y as usize][x as usize] = color;
    }
}
