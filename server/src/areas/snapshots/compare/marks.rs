//! The colours of a drawn difference, one byte for each pixel.
//!
//! Pixels that do not differ are drawn as faded grey, of which 27 levels occur. Together with two
//! colours for differences that is a palette, so a drawn difference needs a quarter of the memory
//! and a fraction of the encoding time of a picture.

use super::colour::brightness;
use super::plane::Pixel;

/// Levels of grey: 255 down to 229.
const SHADES: u8 = 27;

/// The pixel differs: red.
pub(super) const DIFFERENT: u8 = SHADES;

/// The pixel differs and is anti-aliasing: yellow.
pub(super) const ANTI_ALIASED: u8 = SHADES + 1;

/// Neither picture has the pixel: white.
pub(super) const BLANK: u8 = 0;

/// Red, green and blue of every mark.
pub(super) const PALETTE: [[u8; 3]; SHADES as usize + 2] = palette();

/// How much of a picture is visible below the marks.
const OPACITY: f64 = 0.1;

/// Pixels whose marks are computed at a time.
const CHUNK: usize = 16;

const fn palette() -> [[u8; 3]; SHADES as usize + 2] {
    let mut palette = [[255, 0, 0]; SHADES as usize + 2];
    let mut shade = 0;
    while shade < SHADES {
        palette[shade as usize] = [255 - shade; 3];
        shade += 1;
    }
    palette[ANTI_ALIASED as usize] = [255, 255, 0];
    palette
}

/// Writes the marks of pixels that do not differ.
pub(super) fn shade(pixels: &[Pixel], marks: &mut [u8]) {
    let (pixel_chunks, last_pixels) = pixels.as_chunks::<CHUNK>();
    let (mark_chunks, last_marks) = marks.as_chunks_mut::<CHUNK>();
    for (pixels, marks) in pixel_chunks.iter().zip(mark_chunks) {
        // Most of a page has one colour.
        if has_one_colour(pixels) {
            *marks = [shade_of(pixels[0]); CHUNK];
        } else {
            *marks = pixels.map(shade_of);
        }
    }
    for (pixel, mark) in last_pixels.iter().zip(last_marks) {
        *mark = shade_of(*pixel);
    }
}

/// Compares all pixels with the first one, without an early return, so that several are compared at
/// a time.
#[inline]
fn has_one_colour(pixels: &[Pixel; CHUNK]) -> bool {
    let [first, ..] = pixels.map(u32::from_ne_bytes);
    let difference = |pixel: &Pixel| u32::from_ne_bytes(*pixel) ^ first;
    pixels.iter().map(difference).fold(0, |all, bits| all | bits) == 0
}

#[inline]
fn shade_of(pixel: Pixel) -> u8 {
    let alpha = f64::from(pixel[3]);
    let grey = 255.0 + (brightness(pixel) - 255.0) * OPACITY * alpha / 255.0;
    255 - grey as u8
}
