//! Compares pictures pixel by pixel, as slowly and as literally as possible.

use super::super::{Picture, Rectangle};

/// The number of differing pixels, and the drawing.
#[derive(Debug, PartialEq)]
pub(super) struct NaiveDifference {
    pub(super) diff_pixels: u64,
    pub(super) drawing: Vec<u8>,
}

/// Compares pictures of any sizes.
pub(super) fn compare(
    baseline: &Picture,
    snapshot: &Picture,
    threshold: f64,
    ignored: &[Rectangle],
) -> NaiveDifference {
    let width = baseline.width().max(snapshot.width());
    let height = baseline.height().max(snapshot.height());
    let common = [
        baseline.width().min(snapshot.width()) as i64,
        baseline.height().min(snapshot.height()) as i64,
    ];
    let images = [baseline, snapshot].map(|picture| Image { picture, size: common });
    let mut result = NaiveDifference { diff_pixels: 0, drawing: Vec::new() };
    for y in 0..height {
        for x in 0..width {
            let is_ignored = ignored.iter().any(|region| {
                let [right, bottom] =
                    [region.x.saturating_add(region.width), region.y.saturating_add(region.height)];
                (region.x..right).contains(&x) && (region.y..bottom).contains(&y)
            });
            let is_common = i64::from(x) < common[0] && i64::from(y) < common[1];
            let grey = faded(pixel(baseline, x, y).or(pixel(snapshot, x, y)));
            let colour = if is_ignored {
                grey
            } else if is_common {
                drawn(&images, i64::from(x), i64::from(y), threshold).unwrap_or(grey)
            } else {
                [255, 0, 0]
            };
            result.diff_pixels += u64::from(colour == [255, 0, 0]);
            result.drawing.extend(colour);
            result.drawing.push(255);
        }
    }
    result
}

fn pixel(picture: &Picture, x: u32, y: u32) -> Option<[f64; 4]> {
    let is_inside = x < picture.width() && y < picture.height();
    let at = 4 * (y as usize * picture.width() as usize + x as usize);
    is_inside.then(|| std::array::from_fn(|channel| f64::from(picture.rgba()[at + channel])))
}

fn faded(pixel: Option<[f64; 4]>) -> [u8; 3] {
    let Some([red, green, blue, alpha]) = pixel else { return [255; 3] };
    let luma = red * 0.29889531 + green * 0.58662247 + blue * 0.11448223;
    [(255.0 + (luma - 255.0) * 0.1 * alpha / 255.0) as u8; 3]
}

/// Returns the colour of a pixel that differs.
fn drawn(images: &[Image<'_>; 2], x: i64, y: i64, threshold: f64) -> Option<[u8; 3]> {
    let [first, second] = images;
    let [y1, i, q] = first.delta(x, y, second.at(x, y));
    let delta = 0.5053 * y1 * y1 + 0.299 * i * i + 0.1957 * q * q;
    if first.at(x, y) == second.at(x, y) || delta <= 35215.0 * threshold * threshold {
        return None;
    }
    let is_smooth = first.is_anti_aliased(second, x, y) || second.is_anti_aliased(first, x, y);
    Some(if is_smooth { [255, 255, 0] } else { [255, 0, 0] })
}

/// The upper left part of a picture.
struct Image<'a> {
    picture: &'a Picture,
    size: [i64; 2],
}

impl Image<'_> {
    fn at(&self, x: i64, y: i64) -> [f64; 4] {
        pixel(self.picture, x as u32, y as u32).unwrap()
    }

    fn neighbours(&self, x: i64, y: i64) -> Vec<[i64; 2]> {
        let mut found = Vec::new();
        for column in x - 1..=x + 1 {
            for row in y - 1..=y + 1 {
                let is_inside =
                    (0..self.size[0]).contains(&column) && (0..self.size[1]).contains(&row);
                if is_inside && [column, row] != [x, y] {
                    found.push([column, row]);
                }
            }
        }
        found
    }

    /// Returns the difference of a pixel and a colour as brightness and two chromaticities.
    fn delta(&self, x: i64, y: i64, other: [f64; 4]) -> [f64; 3] {
        let own = self.at(x, y);
        let k = (4 * (y * self.size[0] + x)) as f64;
        let parity = |number: f64| f64::from(number as i32 % 2);
        let background = [
            48.0 + 159.0 * parity(k),
            48.0 + 159.0 * parity(k / 1.618033988749895),
            48.0 + 159.0 * parity(k / 2.618033988749895),
        ];
        let [r, g, b]: [f64; 3] = std::array::from_fn(|channel| {
            if own[3] < 255.0 || other[3] < 255.0 {
                let blended = background[channel] * (own[3] - other[3]);
                (own[channel] * own[3] - other[channel] * other[3] - blended) / 255.0
            } else {
                own[channel] - other[channel]
            }
        });
        [
            r * 0.29889531 + g * 0.58662247 + b * 0.11448223,
            r * 0.59597799 - g * 0.27417610 - b * 0.32180189,
            r * 0.21147017 - g * 0.52261711 + b * 0.31114694,
        ]
    }

    fn has_siblings(&self, x: i64, y: i64) -> bool {
        let neighbours = self.neighbours(x, y);
        let equal =
            neighbours.iter().filter(|[column, row]| self.at(*column, *row) == self.at(x, y));
        equal.count() + usize::from(neighbours.len() < 8) > 2
    }

    fn is_anti_aliased(&self, other: &Self, x: i64, y: i64) -> bool {
        let neighbours = self.neighbours(x, y);
        let brightness = |place: &[i64; 2]| self.delta(x, y, self.at(place[0], place[1]))[0];
        let deltas: Vec<f64> = neighbours.iter().map(brightness).collect();
        let equal = deltas.iter().filter(|delta| **delta == 0.0).count();
        if equal + usize::from(neighbours.len() < 8) > 2 {
            return false;
        }
        let min = deltas.iter().copied().fold(0.0, f64::min);
        let max = deltas.iter().copied().fold(0.0, f64::max);
        if min == 0.0 || max == 0.0 {
            return false;
        }
        [min, max].into_iter().any(|extreme| {
            let place = deltas.iter().position(|delta| *delta == extreme).unwrap();
            let [x, y] = neighbours[place];
            self.has_siblings(x, y) && other.has_siblings(x, y)
        })
    }
}
