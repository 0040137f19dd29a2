//! What a caller may choose of a comparison.

use std::num::NonZeroUsize;

use super::error::OptionsError;
use super::limits::IGNORED_REGIONS_MAX;
use super::rectangle::Rectangle;

/// The default threshold, the same as that of pixelmatch.
const THRESHOLD: f64 = 0.1;

/// The options of a comparison.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    threshold: f64,
    ignored_regions: Vec<Rectangle>,
    threads_max: NonZeroUsize,
}

impl Default for CompareOptions {
    /// Returns a threshold of 0.1, no ignored regions and as many threads as the process has cores.
    fn default() -> Self {
        let threads_max = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { threshold: THRESHOLD, ignored_regions: Vec::new(), threads_max }
    }
}

impl CompareOptions {
    /// Sets the colour difference, from 0 to 1, up to which two pixels are equal.
    pub fn with_threshold(self, threshold: f64) -> Result<Self, OptionsError> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(OptionsError::Threshold(threshold));
        }
        Ok(Self { threshold, ..self })
    }

    /// Sets the regions whose pixels never differ.
    pub fn with_ignored_regions(self, regions: Vec<Rectangle>) -> Result<Self, OptionsError> {
        if regions.len() > IGNORED_REGIONS_MAX {
            return Err(OptionsError::TooManyIgnoredRegions(regions.len()));
        }
        Ok(Self { ignored_regions: regions, ..self })
    }

    /// Sets how many threads may compare at a time, the calling one included.
    pub fn with_threads_max(self, threads_max: NonZeroUsize) -> Self {
        Self { threads_max, ..self }
    }

    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    pub(super) fn ignored_regions(&self) -> &[Rectangle] {
        &self.ignored_regions
    }

    pub(super) fn threads_max(&self) -> usize {
        self.threads_max.get()
    }
}
