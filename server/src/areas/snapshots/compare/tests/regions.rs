//! Changed regions.

use proptest::prelude::*;

use super::super::regions::Tile;
use super::super::{
    CHANGED_REGIONS_MAX, ChangedRegion, CompareOptions, Picture, Rectangle, compare,
};
use super::comparisons::{blank, compared};
use super::random::pairs;

/// Returns the regions of a white picture and one with black pixels.
fn regions_of(width: u32, height: u32, places: &[[u32; 2]]) -> (Vec<ChangedRegion>, usize) {
    let mut rgba = vec![255; 4 * (width * height) as usize];
    for [x, y] in places {
        let at = 4 * (y * width + x) as usize;
        rgba[at..at + 3].fill(0);
    }
    let snapshot = Picture::from_rgba(width, height, rgba).unwrap();
    let found = compared(&blank(width, height), &snapshot);
    assert_eq!(found.diff_pixels, places.len() as u64);
    (found.regions, found.regions_total)
}

fn region(x: u32, y: u32, width: u32, height: u32, diff_pixels: u64) -> ChangedRegion {
    ChangedRegion { rectangle: Rectangle { x, y, width, height }, diff_pixels }
}

#[test]
fn pixels_near_each_other_are_one_region() {
    let side = Tile::SIDE as u32;
    for start in 0..side {
        for [x, y] in [[side, 0], [0, side], [side, side]] {
            let (found, _) = regions_of(100, 100, &[[start, start], [start + x, start + y]]);
            assert_eq!(found, [region(start, start, x + 1, y + 1, 2)]);
            let far = [start + 2 * x, start + 2 * y];
            assert_eq!(regions_of(100, 100, &[[start, start], far]).1, 2, "{start} {x} {y}");
        }
    }
}

#[test]
fn regions_are_listed_by_area_then_from_the_top() {
    let places = [[0, 70], [70, 0], [0, 0], [3, 2], [140, 9], [141, 9], [200, 0]];
    let (found, total) = regions_of(250, 100, &places);
    let expected = [
        region(0, 0, 4, 3, 2),
        region(140, 9, 2, 1, 2),
        region(70, 0, 1, 1, 1),
        region(200, 0, 1, 1, 1),
        region(0, 70, 1, 1, 1),
    ];
    assert_eq!((&found[..], total), (&expected[..], 5));
}

#[test]
fn the_end_of_a_row_of_tiles_does_not_touch_the_start_of_the_next() {
    assert_eq!(regions_of(64, 64, &[[63, 0], [0, 16]]).1, 2);
    assert_eq!(regions_of(64, 64, &[[63, 0], [0, 32]]).1, 2);
}

#[test]
fn only_the_largest_regions_are_listed() {
    for (count, listed) in [(CHANGED_REGIONS_MAX, 100), (CHANGED_REGIONS_MAX + 1, 100)] {
        let mut places: Vec<[u32; 2]> = (0..count as u32).map(|number| [number * 32, 0]).collect();
        // The last region is the largest one, and the one before it the second largest.
        let last = (count as u32 - 1) * 32;
        places.extend([[last + 1, 0], [last + 2, 0], [last - 31, 0]]);
        let (found, total) = regions_of(count as u32 * 32, 1, &places);
        assert_eq!((found.len(), total), (listed, count));
        assert_eq!(found[..2], [region(last, 0, 3, 1, 3), region(last - 32, 0, 2, 1, 2)]);
        let others = found[2..].iter().enumerate();
        others.for_each(|(at, found)| assert_eq!(*found, region(at as u32 * 32, 0, 1, 1, 1)));
    }
}

proptest! {
    #[test]
    fn every_differing_pixel_is_in_a_region_and_regions_are_tight(
        (baseline, snapshot) in pairs(),
    ) {
        let found = compare(&baseline, &snapshot, &CompareOptions::default()).unwrap();
        let width = found.picture.width();
        let drawing = found.picture.to_rgba();
        let red: Vec<[u32; 2]> = (0_u32..)
            .zip(drawing.as_chunks::<4>().0)
            .filter(|(_, pixel)| **pixel == [255, 0, 0, 255])
            .map(|(place, _)| [place % width, place / width])
            .collect();
        let inside = |[x, y]: &[u32; 2], area: &Rectangle| {
            (area.x..area.x + area.width).contains(x) && (area.y..area.y + area.height).contains(y)
        };
        let areas: Vec<Rectangle> = found.regions.iter().map(|region| region.rectangle).collect();
        prop_assert!(red.iter().all(|place| areas.iter().any(|area| inside(place, area))));
        for area in &areas {
            let (right, bottom) = (area.x + area.width - 1, area.y + area.height - 1);
            let edges = [
                Rectangle { width: 1, ..*area },
                Rectangle { height: 1, ..*area },
                Rectangle { x: right, width: 1, ..*area },
                Rectangle { y: bottom, height: 1, ..*area },
            ];
            for edge in edges {
                prop_assert!(red.iter().any(|place| inside(place, &edge)));
            }
        }
    }
}
