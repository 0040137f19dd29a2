//! The number of differing pixels, the drawing, and the limits.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use super::super::{
    CompareError, CompareOptions, Difference, OptionsError, PICTURE_PIXELS_MAX, Picture,
    PictureError, Rectangle, compare, compare_png,
};
use super::naive::{self, NaiveDifference};
use super::random::{pairs, rectangles};

const WHITE: [u8; 4] = [255; 4];
const BLACK: [u8; 4] = [0, 0, 0, 255];

/// Returns a picture of one colour with a box of another one.
pub(super) fn boxed(width: u32, height: u32, area: Rectangle) -> Picture {
    let is_inside = |x: u32, y: u32| {
        (area.x..area.x + area.width).contains(&x) && (area.y..area.y + area.height).contains(&y)
    };
    let pixel = |place: u32| if is_inside(place % width, place / width) { BLACK } else { WHITE };
    Picture::from_rgba(width, height, (0..width * height).flat_map(pixel).collect()).unwrap()
}

pub(super) fn blank(width: u32, height: u32) -> Picture {
    boxed(width, height, Rectangle { x: 0, y: 0, width: 0, height: 0 })
}

pub(super) fn compared(baseline: &Picture, snapshot: &Picture) -> Difference {
    compare(baseline, snapshot, &CompareOptions::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_pictures_are_compared_like_the_naive_way(
        (baseline, snapshot) in pairs(),
        threshold in prop_oneof![Just(0.1), 0.0..1.0],
        ignored in rectangles(),
        threads in 1_usize..4,
    ) {
        let expected = naive::compare(&baseline, &snapshot, threshold, &ignored);
        let options = CompareOptions::default()
            .with_threshold(threshold)
            .unwrap()
            .with_ignored_regions(ignored)
            .unwrap()
            .with_threads_max(NonZeroUsize::new(threads).unwrap());
        let found = compare(&baseline, &snapshot, &options).unwrap();
        let in_regions: u64 = found.regions.iter().map(|region| region.diff_pixels).sum();
        prop_assert_eq!(in_regions, found.diff_pixels);
        let (diff_pixels, drawing) = (found.diff_pixels, found.picture.to_rgba());
        prop_assert_eq!(NaiveDifference { diff_pixels, drawing }, expected);
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let pixel = |place: u32| match place.wrapping_mul(2_654_435_761) >> 28 {
        0..8 => WHITE,
        8..15 => BLACK,
        _ => [200, 30, 90, 128],
    };
    let noise = |from: u32| {
        let rgba = (from..from + 300 * 1_000).flat_map(pixel).collect();
        Picture::from_rgba(300, 1_000, rgba).unwrap()
    };
    let (baseline, snapshot) = (noise(0), noise(77));
    let expected = naive::compare(&baseline, &snapshot, 0.1, &[]);
    for threads in [1, 2, 3, 64] {
        let threads = NonZeroUsize::new(threads).unwrap();
        let options = CompareOptions::default().with_threads_max(threads);
        let found = compare(&baseline, &snapshot, &options).unwrap();
        assert_eq!(found.diff_pixels, expected.diff_pixels, "{threads} threads");
        assert!(found.picture.to_rgba() == expected.drawing, "{threads} threads");
    }
}

#[test]
fn a_box_of_10_by_10_pixels_differs_by_100_pixels() {
    let area = Rectangle { x: 600, y: 400, width: 10, height: 10 };
    let found = compared(&blank(1_280, 800), &boxed(1_280, 800, area));
    assert_eq!(found.diff_pixels, 100);
    assert_eq!(found.all_pixels, 1_024_000);
    assert_eq!(found.diff_percentage(), 0.0098);
    assert!(!found.sizes_differ);
    assert_eq!((found.regions_total, found.regions[0].rectangle), (1, area));
}

#[test]
fn equal_pictures_do_not_differ() {
    let area = Rectangle { x: 3, y: 3, width: 9, height: 2 };
    let picture = boxed(40, 40, area);
    let found = compared(&picture, &picture);
    assert_eq!((found.diff_pixels, found.diff_percentage(), found.regions_total), (0, 0.0, 0));
    let file = picture.to_png().unwrap();
    let found = compare_png(&file, &file, &CompareOptions::default()).unwrap();
    assert_eq!((found.diff_pixels, found.all_pixels), (0, 1_600));
}

#[test]
fn what_is_not_in_both_pictures_differs() {
    let found = compared(&blank(10, 6), &blank(4, 8));
    assert!(found.sizes_differ);
    assert_eq!((found.all_pixels, found.diff_pixels), (80, 80 - 4 * 6));
    assert_eq!((found.picture.width(), found.picture.height()), (10, 8));
    let drawing = found.picture.to_rgba();
    for (place, pixel) in drawing.as_chunks::<4>().0.iter().enumerate() {
        let is_common = place % 10 < 4 && place / 10 < 6;
        assert_eq!(*pixel, if is_common { WHITE } else { [255, 0, 0, 255] }, "{place}");
    }
}

#[test]
fn a_single_pixel_can_differ() {
    let found = compared(&blank(1, 1), &boxed(1, 1, Rectangle { x: 0, y: 0, width: 1, height: 1 }));
    assert_eq!((found.diff_pixels, found.diff_percentage()), (1, 100.0));
}

#[test]
fn thresholds_are_between_0_and_1() {
    for threshold in [0.0, 0.1, 1.0] {
        assert!(CompareOptions::default().with_threshold(threshold).is_ok(), "{threshold}");
    }
    for threshold in [-0.001, 1.001, f64::INFINITY] {
        let error = CompareOptions::default().with_threshold(threshold).unwrap_err();
        assert_eq!(error, OptionsError::Threshold(threshold));
    }
    assert!(CompareOptions::default().with_threshold(f64::NAN).is_err());
}

#[test]
fn the_area_of_both_pictures_is_limited() {
    let found = compared(&blank(10_000, 1), &blank(1, 5_000));
    assert_eq!(found.all_pixels, PICTURE_PIXELS_MAX);
    assert_eq!(found.diff_pixels, PICTURE_PIXELS_MAX - 1);
    let error = compare(&blank(10_000, 1), &blank(1, 5_001), &CompareOptions::default());
    assert!(matches!(error, Err(CompareError::UnionTooLarge { pixels: 50_010_000 })));
}

#[test]
fn the_refused_file_is_named() {
    let file = blank(2, 2).to_png().unwrap();
    let options = CompareOptions::default();
    for options in [options.clone(), options.with_threads_max(NonZeroUsize::MIN)] {
        let baseline = compare_png(&file[..40], &file, &options).unwrap_err();
        assert!(matches!(baseline, CompareError::Baseline(PictureError::Truncated)), "{baseline}");
        let snapshot = compare_png(&file, &file[..40], &options).unwrap_err();
        assert!(matches!(snapshot, CompareError::Snapshot(PictureError::Truncated)), "{snapshot}");
        let both = compare_png(b"", b"", &options).unwrap_err();
        assert_eq!(both.to_string(), "the baseline cannot be compared: the PNG file is truncated");
    }
}
