//! Pictures that are drawn for the tests.

use telltale_server::areas::snapshots::compare::Picture;

/// Pixels of the width and of the height of a picture with shapes.
const SHAPES_SIDE: u32 = 72;

/// Parts of a pixel, in both directions, whose colours are averaged.
const SAMPLES: u32 = 4;

/// A reproducible source of random numbers (xorshift).
#[derive(Debug)]
pub(crate) struct Random(u64);

/// A ring, or a stroke such as letters have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    from: [f64; 2],
    to: [f64; 2],
    radius: f64,
    colour: [u8; 3],
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32 % end
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    /// Returns some colours.
    pub(crate) fn palette(&mut self, colours: u32, is_opaque: bool) -> Vec<[u8; 4]> {
        let mut colour = || {
            let alpha = [0, 1, 127, 254, 255, self.byte()][self.below(6) as usize];
            let alpha = if is_opaque { 255 } else { alpha };
            [self.byte(), self.byte(), self.byte(), alpha]
        };
        (0..colours).map(|_| colour()).collect()
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }

    /// Returns a picture of random pixels.
    pub(crate) fn noise(&mut self, width: u32, height: u32, palette: &[[u8; 4]]) -> Picture {
        let pixels: Vec<[u8; 4]> = (0..width * height).map(|_| self.of(palette)).collect();
        Picture::from_rgba(width, height, pixels.into_flattened()).unwrap()
    }

    /// Returns the picture with some percent of its pixels replaced.
    pub(crate) fn changed(
        &mut self,
        picture: &Picture,
        palette: &[[u8; 4]],
        percent: u32,
    ) -> Picture {
        let mut rgba = picture.rgba().to_vec();
        for pixel in rgba.as_chunks_mut().0 {
            if self.below(100) < percent {
                *pixel = self.of(palette);
            }
        }
        Picture::from_rgba(picture.width(), picture.height(), rgba).unwrap()
    }

    /// Returns a picture whose colours change gradually.
    pub(crate) fn gradient(&mut self, width: u32, height: u32, is_opaque: bool) -> Picture {
        let [across, down, offset] = [(); 3].map(|()| self.below(9));
        let pixel = |place: u32| {
            let (x, y) = (place % width, place / width);
            let value = (x * across + y * down) / 2 + offset;
            let alpha = if is_opaque { 255 } else { 255 - value.min(255) };
            [value.min(255), (255 - value.min(255)), (value * 3) % 256, alpha]
                .map(|byte| byte as u8)
        };
        let pixels: Vec<[u8; 4]> = (0..width * height).map(pixel).collect();
        Picture::from_rgba(width, height, pixels.into_flattened()).unwrap()
    }

    /// Returns the picture with every byte changed by at most `range`.
    pub(crate) fn shifted_colours(&mut self, picture: &Picture, range: u32) -> Picture {
        let mut rgba = picture.rgba().to_vec();
        for byte in &mut rgba {
            *byte =
                byte.saturating_add_signed((self.below(2 * range + 1) as i32 - range as i32) as i8);
        }
        Picture::from_rgba(picture.width(), picture.height(), rgba).unwrap()
    }

    /// Returns shapes for [`smooth`].
    pub(crate) fn shapes(&mut self, count: u32) -> Vec<Shape> {
        let side = SHAPES_SIDE * 8;
        let mut place = || [(); 2].map(|()| f64::from(self.below(side)) / 8.0);
        let ends: Vec<[[f64; 2]; 2]> = (0..count).map(|_| [place(), place()]).collect();
        let shape = |[from, to]: [[f64; 2]; 2]| Shape {
            from,
            to,
            radius: 0.5 + f64::from(self.below(30)) / 10.0,
            colour: if self.below(2) == 0 {
                [0; 3]
            } else {
                [self.byte(), self.byte(), self.byte()]
            },
        };
        ends.into_iter().map(shape).collect()
    }
}

impl Shape {
    fn contains(&self, [x, y]: [f64; 2]) -> bool {
        let along = [self.to[0] - self.from[0], self.to[1] - self.from[1]];
        let length = along[0] * along[0] + along[1] * along[1];
        let offset = [x - self.from[0], y - self.from[1]];
        let part =
            ((offset[0] * along[0] + offset[1] * along[1]) / length.max(0.01)).clamp(0.0, 1.0);
        let nearest = [part * along[0] - offset[0], part * along[1] - offset[1]];
        nearest[0].hypot(nearest[1]) < self.radius
    }
}

/// Returns a picture of shapes with smooth edges, moved by a part of a pixel.
pub(crate) fn smooth(shapes: &[Shape], shift: f64, is_opaque: bool) -> Picture {
    let background = if is_opaque { [255; 4] } else { [0; 4] };
    let colour_at = |at: [f64; 2]| {
        let shape = shapes.iter().rev().find(|shape| shape.contains(at));
        shape.map_or(background, |shape| [shape.colour[0], shape.colour[1], shape.colour[2], 255])
    };
    let pixel = |place: u32| {
        let mut sum = [0_u32; 4];
        for sample in 0..SAMPLES * SAMPLES {
            let part = |number: u32| (f64::from(number) + 0.5) / f64::from(SAMPLES);
            let x = f64::from(place % SHAPES_SIDE) + part(sample % SAMPLES) + shift;
            let y = f64::from(place / SHAPES_SIDE) + part(sample / SAMPLES) + shift / 3.0;
            let colour = colour_at([x, y]);
            sum.iter_mut().zip(colour).for_each(|(sum, byte)| *sum += u32::from(byte));
        }
        sum.map(|sum| (sum / (SAMPLES * SAMPLES)) as u8)
    };
    let pixels: Vec<[u8; 4]> = (0..SHAPES_SIDE * SHAPES_SIDE).map(pixel).collect();
    Picture::from_rgba(SHAPES_SIDE, SHAPES_SIDE, pixels.into_flattened()).unwrap()
}

/// Returns the upper left part of a picture.
pub(crate) fn cropped(picture: &Picture, width: u32, height: u32) -> Picture {
    let rows = picture.rgba().chunks_exact(4 * picture.width() as usize).take(height as usize);
    let rgba = rows.flat_map(|row| &row[..4 * width as usize]).copied().collect();
    Picture::from_rgba(width, height, rgba).unwrap()
}
