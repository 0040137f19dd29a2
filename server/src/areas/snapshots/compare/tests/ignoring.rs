//! Ignored regions.

use super::super::ignored::compared_spans;
use super::super::{CompareOptions, IGNORED_REGIONS_MAX, OptionsError, Rectangle, compare};
use super::comparisons::{blank, boxed};

const EMPTY: Rectangle = Rectangle { x: 0, y: 0, width: 0, height: 0 };

fn columns(x: u32, width: u32) -> Rectangle {
    Rectangle { x, y: 5, width, height: 1 }
}

#[track_caller]
fn check(ignored: &[Rectangle], expected: &[[usize; 2]]) {
    let mut spans = vec![1..2, 3..4];
    compared_spans(ignored, 5, 20, &mut spans);
    let spans: Vec<[usize; 2]> = spans.iter().map(|span| [span.start, span.end]).collect();
    assert_eq!(spans, expected);
}

#[test]
fn overlapping_and_adjacent_regions_are_left_out() {
    check(&[], &[[0, 20]]);
    check(&[columns(3, 4)], &[[0, 3], [7, 20]]);
    check(&[columns(5, 5), columns(3, 4), columns(10, 1)], &[[0, 3], [11, 20]]);
    check(&[columns(2, 10), columns(3, 1)], &[[0, 2], [12, 20]]);
    check(&[columns(0, 20)], &[]);
    check(&[columns(18, u32::MAX)], &[[0, 18]]);
    check(&[columns(u32::MAX, u32::MAX)], &[[0, 20]]);
    check(&[columns(7, 0), EMPTY], &[[0, 7], [7, 20]]);
    check(&[Rectangle { x: 0, y: 4, width: 9, height: 1 }], &[[0, 20]]);
    check(&[Rectangle { x: 0, y: 4, width: 9, height: 2 }], &[[9, 20]]);
    check(&[Rectangle { x: 0, y: 6, width: 9, height: 1 }], &[[0, 20]]);
}

#[test]
fn ignored_pixels_never_differ_and_are_drawn_faded() {
    let area = Rectangle { x: 10, y: 10, width: 10, height: 10 };
    let ignored = Rectangle { x: 10, y: 10, width: 10, height: 4 };
    let options = CompareOptions::default().with_ignored_regions(vec![ignored]).unwrap();
    let found = compare(&boxed(40, 40, area), &blank(40, 40), &options).unwrap();
    assert_eq!((found.diff_pixels, found.all_pixels), (60, 1_600));
    let drawing = found.picture.to_rgba();
    let pixel = |x: usize, y: usize| &drawing[4 * (40 * y + x)..][..4];
    assert_eq!(pixel(10, 13), [229, 229, 229, 255]);
    assert_eq!(pixel(10, 14), [255, 0, 0, 255]);
    // What neither picture has can be ignored, too.
    let options = options.with_ignored_regions(vec![Rectangle { x: 0, y: 0, ..area }]).unwrap();
    let found = compare(&blank(10, 2), &blank(2, 10), &options).unwrap();
    assert_eq!(found.diff_pixels, 0);
    assert!(found.picture.to_rgba().iter().all(|byte| *byte == 255));
}

#[test]
fn the_number_of_ignored_regions_is_limited() {
    let regions = |count: usize| vec![EMPTY; count];
    assert!(CompareOptions::default().with_ignored_regions(regions(IGNORED_REGIONS_MAX)).is_ok());
    let error = CompareOptions::default().with_ignored_regions(regions(IGNORED_REGIONS_MAX + 1));
    assert_eq!(error.unwrap_err(), OptionsError::TooManyIgnoredRegions(101));
}
