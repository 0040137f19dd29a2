//! What a comparison found.

use super::diff_picture::DiffPicture;
use super::regions::ChangedRegion;

/// Parts of a percent that are reported.
const PERCENT_PARTS: u64 = 10_000;

/// The result of a comparison.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The number of differing pixels.
    pub diff_pixels: u64,
    /// The number of pixels of the area that contains both pictures.
    pub all_pixels: u64,
    /// Whether the pictures have different sizes.
    pub sizes_differ: bool,
    /// The regions that changed, the largest first; at most
    /// [`CHANGED_REGIONS_MAX`](super::CHANGED_REGIONS_MAX).
    pub regions: Vec<ChangedRegion>,
    /// The number of all regions that changed.
    pub regions_total: usize,
    /// The drawing of the comparison.
    pub picture: DiffPicture,
}

impl Difference {
    /// Returns how many percent of the pixels differ, rounded half up to four decimals. It is 0
    /// only if no pixel differs.
    pub fn diff_percentage(&self) -> f64 {
        percentage(self.diff_pixels, self.all_pixels)
    }
}

fn percentage(part: u64, all: u64) -> f64 {
    let rounded = (2 * part * 100 * PERCENT_PARTS + all) / (2 * all);
    rounded.max(u64::from(part > 0)) as f64 / PERCENT_PARTS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_four_decimals_rounded_half_up() {
        for (part, all, expected) in [
            (0, 1, 0.0),
            (1, 1, 100.0),
            (1, 50_000_000, 0.0001),
            (100, 1_024_000, 0.0098),
            (1, 2_000_000, 0.0001),
            (3, 2_000_000, 0.0002),
            (2_999, 2_000_000_000, 0.0001),
            (1, 3, 33.3333),
            (2, 3, 66.6667),
            (50_000_000, 50_000_000, 100.0),
        ] {
            assert_eq!(percentage(part, all), expected, "{part} of {all}");
        }
    }
}
