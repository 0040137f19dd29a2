//! Random pictures, of few colours so that many neighbours are equal.

use proptest::prelude::*;

use super::super::{Picture, Rectangle};

const SIDE_MAX: u32 = 44;

/// Returns pairs of pictures: half of them have the same size, and the second differs a little.
pub(super) fn pairs() -> impl Strategy<Value = (Picture, Picture)> {
    prop_oneof![similar(), (picture(), picture())]
}

/// Returns lists of up to four rectangles inside, across the edge and outside of pictures.
pub(super) fn rectangles() -> impl Strategy<Value = Vec<Rectangle>> {
    let number = || prop_oneof![4 => 0..SIDE_MAX + 4, 1 => Just(u32::MAX)];
    let rectangle = (number(), number(), number(), number())
        .prop_map(|(x, y, width, height)| Rectangle { x, y, width, height });
    prop::collection::vec(rectangle, 0..4)
}

fn colours() -> impl Strategy<Value = Vec<[u8; 4]>> {
    let alpha = prop_oneof![3 => Just(255), 1 => any::<u8>()];
    let colour = (any::<[u8; 3]>(), alpha).prop_map(|([r, g, b], alpha)| [r, g, b, alpha]);
    prop::collection::vec(colour, 1..5)
}

fn picture() -> impl Strategy<Value = Picture> {
    (1..SIDE_MAX, 1..SIDE_MAX, colours()).prop_flat_map(|(width, height, colours)| {
        let pixels =
            prop::collection::vec(prop::sample::select(colours), (width * height) as usize);
        pixels.prop_map(move |pixels| {
            Picture::from_rgba(width, height, pixels.into_flattened()).unwrap()
        })
    })
}

fn similar() -> impl Strategy<Value = (Picture, Picture)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40);
    (picture(), changes).prop_map(|(baseline, changes)| {
        let mut rgba = baseline.rgba().to_vec();
        for (index, byte) in changes {
            *index.get_mut(&mut rgba) = byte;
        }
        let snapshot = Picture::from_rgba(baseline.width(), baseline.height(), rgba).unwrap();
        (baseline, snapshot)
    })
}
