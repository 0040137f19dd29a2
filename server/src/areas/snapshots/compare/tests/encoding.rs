//! Encoded pictures are decoded as they were.

use proptest::prelude::*;

use super::super::{DiffPicture, Picture};
use super::comparisons::compared;
use super::random::pairs;

proptest! {
    #[test]
    fn encoded_pictures_are_decoded_as_they_were((baseline, snapshot) in pairs()) {
        let drawing = compared(&baseline, &snapshot).picture;
        for picture in [baseline, snapshot] {
            let file = picture.to_png().unwrap();
            prop_assert_eq!(Picture::from_png(&file).unwrap(), picture);
        }
        let decoded = Picture::from_png(&drawing.to_png().unwrap()).unwrap();
        prop_assert_eq!([decoded.width(), decoded.height()], [drawing.width(), drawing.height()]);
        prop_assert_eq!(decoded.rgba(), drawing.to_rgba());
    }
}

#[test]
fn a_drawing_of_one_colour_is_small() {
    let drawing = DiffPicture::new(1_280, 8_000, vec![0; 1_280 * 8_000]);
    assert!(drawing.to_png().unwrap().len() < 100_000);
}

#[test]
fn opaque_pictures_are_encoded_without_alpha() {
    let colour_of = |alpha: u8| {
        let picture = Picture::from_rgba(1, 2, vec![9, 9, 9, 255, 9, 9, 9, alpha]).unwrap();
        picture.to_png().unwrap()[25]
    };
    assert_eq!((colour_of(255), colour_of(254)), (2, 6));
}
