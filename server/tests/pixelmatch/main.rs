//! Pictures are compared as pixelmatch compares them: the same number of differing pixels and the
//! same drawing, byte for byte. `oracle` runs that of npm in Node.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod drawn;
mod oracle;

use drawn::{Random, cropped};
use oracle::{Case, check, fixture, fixture_pair};
use telltale_server::areas::snapshots::compare::{CompareOptions, Picture, compare};

#[test]
fn noise_is_compared_like_pixelmatch() {
    let mut random = Random::new(1);
    let mut cases = Vec::new();
    for number in 0..300 {
        let (width, height) = (random.below(40) + 1, random.below(40) + 1);
        let colours = [2, 3, 5, 40][number % 4];
        let is_opaque = number % 3 > 0;
        let palette = random.palette(colours, is_opaque);
        let baseline = random.noise(width, height, &palette);
        let snapshot = random.changed(&baseline, &palette, number as u32 % 100);
        let threshold = [0.1, 0.0, 0.05, 0.3, 1.0][number % 5];
        cases.push(Case { baseline, snapshot, threshold });
    }
    check(&cases);
}

#[test]
fn slightly_different_colours_are_compared_like_pixelmatch() {
    let mut random = Random::new(2);
    let mut cases = Vec::new();
    for number in 0..60 {
        let baseline = random.gradient(64, 33, number % 2 == 0);
        let snapshot = random.shifted_colours(&baseline, 1 + number / 4);
        cases.push(Case { baseline, snapshot, threshold: 0.02 * f64::from(number % 6) });
    }
    check(&cases);
}

#[test]
fn smooth_shapes_are_compared_like_pixelmatch() {
    let mut random = Random::new(3);
    let mut cases = Vec::new();
    for number in 0..120 {
        let shapes = random.shapes(12);
        let shift = f64::from(number % 7) / 8.0;
        let is_opaque = number % 4 > 0;
        let baseline = drawn::smooth(&shapes, 0.0, is_opaque);
        let snapshot = drawn::smooth(&shapes, shift, is_opaque);
        cases.push(Case { baseline, snapshot, threshold: [0.1, 0.05, 0.0][number as usize % 3] });
    }
    check(&cases);
}

#[test]
fn edges_and_single_pixels_are_compared_like_pixelmatch() {
    let mut random = Random::new(4);
    let mut cases = Vec::new();
    for (width, height) in
        [(1, 1), (1, 2), (2, 1), (2, 2), (1, 50), (50, 1), (2, 40), (3, 3), (40, 2)]
    {
        for number in 0..40 {
            let palette = random.palette(2 + number % 4, number % 2 == 0);
            let baseline = random.noise(width, height, &palette);
            let snapshot = random.changed(&baseline, &palette, 40);
            cases.push(Case { baseline, snapshot, threshold: 0.1 });
        }
    }
    check(&cases);
}

#[test]
fn large_pictures_are_compared_like_pixelmatch() {
    let mut random = Random::new(5);
    let mut cases = Vec::new();
    for is_opaque in [true, false] {
        let palette = random.palette(3, is_opaque);
        let baseline = random.noise(700, 1_300, &palette);
        let snapshot = random.changed(&baseline, &palette, 3);
        cases.push(Case { baseline, snapshot, threshold: 0.1 });
    }
    check(&cases);
}

#[test]
fn the_common_part_of_different_sizes_is_compared_like_pixelmatch() {
    let mut random = Random::new(6);
    for number in 0..40 {
        let palette = random.palette(3, number % 2 == 0);
        let size = |random: &mut Random| [random.below(30) + 1, random.below(30) + 1];
        let sizes = [size(&mut random), size(&mut random)];
        let baseline = random.noise(sizes[0][0], sizes[0][1], &palette);
        let snapshot = random.noise(sizes[1][0], sizes[1][1], &palette);
        let width = baseline.width().min(snapshot.width());
        let height = baseline.height().min(snapshot.height());
        let common = [&baseline, &snapshot].map(|picture| cropped(picture, width, height));
        let difference = compare(&baseline, &snapshot, &CompareOptions::default()).unwrap();
        let [baseline, snapshot] = common;
        let case = Case { baseline, snapshot, threshold: 0.1 };
        let expected = oracle::run(std::slice::from_ref(&case)).remove(0);
        let outside = difference.all_pixels - u64::from(width) * u64::from(height);
        assert_eq!(difference.diff_pixels, u64::from(expected.count) + outside);
        let drawing = difference.picture;
        let drawing = Picture::from_rgba(drawing.width(), drawing.height(), drawing.to_rgba());
        assert!(cropped(&drawing.unwrap(), width, height).rgba() == expected.drawing);
    }
}

/// The counts of the tests of pixelmatch 7.2.0.
#[test]
fn fixtures_of_pixelmatch_have_the_same_counts() {
    for (baseline, snapshot, threshold, expected) in [
        ("1a", "1b", 0.05, 143),
        ("1a", "1b", 0.1, 106),
        ("2a", "2b", 0.05, 12_437),
        ("3a", "3b", 0.05, 212),
        ("4a", "4b", 0.05, 36_049),
        ("5a", "5b", 0.05, 6),
        ("6a", "6b", 0.05, 51),
        ("6a", "6a", 0.0, 0),
        ("7a", "7b", 0.1, 2_448),
    ] {
        let options = CompareOptions::default().with_threshold(threshold).unwrap();
        let [first, second] = [baseline, snapshot].map(fixture);
        let difference = compare(&first, &second, &options).unwrap();
        assert_eq!(difference.diff_pixels, expected, "{baseline} {snapshot} {threshold}");
    }
}

#[test]
fn fixtures_of_pixelmatch_are_drawn_like_pixelmatch() {
    let mut cases = Vec::new();
    for number in 1..=7 {
        for threshold in [0.0, 0.05, 0.1] {
            let [baseline, snapshot] = fixture_pair(number);
            cases.push(Case { baseline, snapshot, threshold });
        }
    }
    check(&cases);
}
