//! Recognises pixels that smooth an edge: renderers place them differently although the page is the
//! same.
//!
//! The method is that of Vyšniauskas, "Anti-aliased Pixel and Intensity Slope Detector" (2009), as
//! pixelmatch implements it. A pixel smooths an edge when it has at most two equal neighbours, some
//! neighbours are darker and some brighter, and the darkest or the brightest of them belongs to an
//! area of one colour in both pictures.

use super::colour::{Place, brightness_difference};
use super::plane::{Neighbour, Pixel, Plane};

/// Equal neighbours up to which a pixel does not belong to an area of one colour. The edge of a
/// picture counts as one.
const SIBLINGS_FEW: usize = 2;

/// The places of the neighbours in a window of 3 x 3 pixels, column by column.
const AROUND: [(usize, usize); 8] =
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)];

/// Returns whether a pixel of `plane` smooths an edge. `other` is the other picture, of the same
/// size.
pub(super) fn is_anti_aliased(plane: &Plane<'_>, other: &Plane<'_>, x: usize, y: usize) -> bool {
    if has_many_siblings(plane, x, y) {
        return false;
    }
    let place = Place(y * plane.width() + x);
    let mut extremes = Extremes::new(plane.pixel(x, y), place);
    let is_possible = if let Some(window) = plane.window(x, y) {
        AROUND.iter().all(|(column, row)| {
            let (x, y) = (x + column - 1, y + row - 1);
            extremes.add(Neighbour { x, y, pixel: window[*row][*column] })
        })
    } else {
        extremes.equal = 1;
        plane.neighbours(x, y).all(|neighbour| extremes.add(neighbour))
    };
    let is_flat = |(x, y)| has_many_siblings(plane, x, y) && has_many_siblings(other, x, y);
    is_possible && extremes.are_both_present() && {
        is_flat(extremes.darkest.1) || is_flat(extremes.brightest.1)
    }
}

/// Returns whether a pixel has more than two neighbours of exactly its colour.
#[inline]
fn has_many_siblings(plane: &Plane<'_>, x: usize, y: usize) -> bool {
    let centre = plane.pixel(x, y);
    let equal = if let Some(window) = plane.window(x, y) {
        let equal = |row: [Pixel; 3]| row.map(|pixel| usize::from(pixel == centre));
        // The centre is equal to itself.
        window.map(equal).as_flattened().iter().sum::<usize>() - 1
    } else {
        1 + plane.neighbours(x, y).filter(|neighbour| neighbour.pixel == centre).count()
    };
    equal > SIBLINGS_FEW
}

/// The darkest and the brightest neighbour of a pixel. Of several, the first one counts.
#[derive(Debug)]
struct Extremes {
    centre: Pixel,
    place: Place,
    /// Neighbours of the same brightness.
    equal: usize,
    /// How much brighter the centre is than the neighbour, and the coordinates of the neighbour.
    darkest: (f64, (usize, usize)),
    brightest: (f64, (usize, usize)),
}

impl Extremes {
    fn new(centre: Pixel, place: Place) -> Self {
        let none = (0.0, (0, 0));
        Self { centre, place, equal: 0, darkest: none, brightest: none }
    }

    /// Adds a neighbour, and returns false if too many have the same brightness.
    #[inline]
    fn add(&mut self, Neighbour { x, y, pixel }: Neighbour) -> bool {
        let delta = brightness_difference(self.centre, pixel, self.place);
        if delta == 0.0 {
            self.equal += 1;
        } else if delta < self.brightest.0 {
            self.brightest = (delta, (x, y));
        } else if delta > self.darkest.0 {
            self.darkest = (delta, (x, y));
        }
        self.equal <= SIBLINGS_FEW
    }

    fn are_both_present(&self) -> bool {
        self.darkest.0 != 0.0 && self.brightest.0 != 0.0
    }
}
