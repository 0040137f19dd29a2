//! The limits of pictures and comparisons, with units and reasons.

/// Pixels of the width and of the height of a picture: browsers draw no more than that.
pub const PICTURE_SIDE_MAX: u32 = 16_384;

/// Pixels of a picture: 200 MB in memory.
pub const PICTURE_PIXELS_MAX: u64 = 50_000_000;

/// Bytes of a PNG file: more than half of those of the largest picture without compression.
pub const PICTURE_FILE_BYTES_MAX: usize = 128 << 20;

/// Bytes of metadata of a PNG file that the decoder keeps. Text and colour profiles are skipped and
/// do not count.
pub const PNG_METADATA_BYTES_MAX: usize = 1 << 20;

/// Rectangles of a comparison that are ignored. Each is examined in every row.
pub const IGNORED_REGIONS_MAX: usize = 100;

/// Changed regions that a comparison reports, the largest ones: nobody looks at more.
pub const CHANGED_REGIONS_MAX: usize = 100;
