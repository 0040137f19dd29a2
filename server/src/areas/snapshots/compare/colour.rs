//! How different two colours look.
//!
//! The distance is that of Kotsarenko and Ramos, "Measuring perceived color difference using YIQ
//! NTSC transmission color space in mobile applications" (2010). The order of the operations is
//! that of pixelmatch, so that all results are equal to the last bit.

use super::plane::Pixel;

/// The weights of red, green and blue in the brightness.
const BRIGHTNESS: [f64; 3] = [0.29889531, 0.58662247, 0.11448223];

/// The squared distance of the two colours that differ most.
const DISTANCE_MAX: f64 = 35215.0;

/// The golden ratio and its square: how often green and blue of the background alternate.
const GREEN_PERIOD: f64 = 1.618033988749895;
const BLUE_PERIOD: f64 = 2.618033988749895;

/// Returns the squared distance up to which two colours are equal.
pub(super) fn distance_max(threshold: f64) -> f64 {
    DISTANCE_MAX * threshold * threshold
}

/// Returns the squared perceptual distance of two pixels at a place. Pixels that are not opaque are
/// blended with the background of that place.
#[inline]
pub(super) fn squared_distance(left: Pixel, right: Pixel, place: Place) -> f64 {
    let [red, green, blue] = difference(left, right, place);
    let y = red * BRIGHTNESS[0] + green * BRIGHTNESS[1] + blue * BRIGHTNESS[2];
    let i = red * 0.59597799 - green * 0.27417610 - blue * 0.32180189;
    let q = red * 0.21147017 - green * 0.52261711 + blue * 0.31114694;
    0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q
}

/// Returns how much brighter `left` is than `right`, from -255 to 255. Both are blended with the
/// background of the same place.
#[inline]
pub(super) fn brightness_difference(left: Pixel, right: Pixel, place: Place) -> f64 {
    if left == right {
        return 0.0;
    }
    let [red, green, blue] = difference(left, right, place);
    red * BRIGHTNESS[0] + green * BRIGHTNESS[1] + blue * BRIGHTNESS[2]
}

/// Returns the brightness of a pixel, from 0 to 255, without its alpha.
#[inline]
pub(super) fn brightness([red, green, blue, _]: Pixel) -> f64 {
    f64::from(red) * BRIGHTNESS[0]
        + f64::from(green) * BRIGHTNESS[1]
        + f64::from(blue) * BRIGHTNESS[2]
}

/// A place in a picture: the number of its pixel, counted row by row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(pub(super) usize);

impl Place {
    /// Returns the background behind pixels that are not opaque. It alternates in an irregular
    /// pattern, so that no colour looks the same as it everywhere.
    fn background(self) -> [i32; 3] {
        // pixelmatch derives it from the number of the first byte. The red of the pattern depends
        // on whether that number is odd, which it never is.
        let byte = (self.0 * size_of::<Pixel>()) as f64;
        let level = |number: f64| if (number as u64).is_multiple_of(2) { 48 } else { 48 + 159 };
        [48, level(byte / GREEN_PERIOD), level(byte / BLUE_PERIOD)]
    }
}

/// Returns the differences of red, green and blue.
#[inline]
fn difference(left: Pixel, right: Pixel, place: Place) -> [f64; 3] {
    if left[3] == 255 && right[3] == 255 {
        let channel = |at: usize| f64::from(i32::from(left[at]) - i32::from(right[at]));
        return [channel(0), channel(1), channel(2)];
    }
    blended_difference(left, right, place)
}

#[cold]
fn blended_difference(left: Pixel, right: Pixel, place: Place) -> [f64; 3] {
    let background = place.background();
    let [left_alpha, right_alpha] = [left[3], right[3]].map(i32::from);
    let channel = |at: usize| {
        let [left, right] = [left[at], right[at]].map(i32::from);
        let difference =
            left * left_alpha - right * right_alpha - background[at] * (left_alpha - right_alpha);
        f64::from(difference) / 255.0
    };
    [channel(0), channel(1), channel(2)]
}
