//! All kinds of PNG files, their limits, and damaged ones.

use png::{BitDepth, ColorType};
use proptest::prelude::*;

use super::super::{
    PICTURE_FILE_BYTES_MAX, PICTURE_SIDE_MAX, PNG_METADATA_BYTES_MAX, Picture, PictureError,
};
use super::comparisons::blank;
use super::png_file::{PngFile, encoded, set_height};

/// Colour types of the header.
const GREY: u8 = 0;
const RGB: u8 = 2;
const PALETTE: u8 = 3;
const GREY_ALPHA: u8 = 4;
const RGBA: u8 = 6;

#[track_caller]
fn check(file: &[u8], expected: &[[u8; 4]]) {
    let picture = Picture::from_png(file).unwrap();
    assert_eq!(picture.rgba().as_chunks::<4>().0, expected);
}

/// Fails unless a file is refused with an error that `matches`.
#[track_caller]
fn check_refused(file: &[u8], matches: fn(&PictureError) -> bool) {
    let error = Picture::from_png(file).unwrap_err();
    assert!(matches(&error), "{error:?}");
}

fn is_corrupt(error: &PictureError) -> bool {
    matches!(error, PictureError::Corrupt(_))
}

#[test]
fn all_colour_types_and_bit_depths_become_rgba() {
    let grey = |level: u8| [level, level, level, 255];
    let file =
        |depth, colour, data: &[u8]| PngFile::new(2, 1, depth, colour, 0).picture(data).end();
    check(&file(1, GREY, &[0, 0b0100_0000]), &[grey(0), grey(255)]);
    check(&file(2, GREY, &[0, 0b0110_0000]), &[grey(85), grey(170)]);
    check(&file(4, GREY, &[0, 0x3f]), &[grey(51), grey(255)]);
    check(&file(8, GREY, &[0, 7, 200]), &[grey(7), grey(200)]);
    check(&file(16, GREY, &[0, 7, 255, 200, 1]), &[grey(7), grey(200)]);
    check(&file(8, RGB, &[0, 1, 2, 3, 4, 5, 6]), &[[1, 2, 3, 255], [4, 5, 6, 255]]);
    let rgb_16 = [0, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9];
    check(&file(16, RGB, &rgb_16), &[[1, 2, 3, 255], [4, 5, 6, 255]]);
    check(&file(8, GREY_ALPHA, &[0, 7, 8, 9, 0]), &[[7, 7, 7, 8], [9, 9, 9, 0]]);
    check(&file(16, GREY_ALPHA, &[0, 7, 1, 8, 1, 9, 1, 0, 1]), &[[7, 7, 7, 8], [9, 9, 9, 0]]);
    check(&file(8, RGBA, &[0, 1, 2, 3, 4, 5, 6, 7, 0]), &[[1, 2, 3, 4], [5, 6, 7, 0]]);
    let rgba_16 = [0, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9, 7, 9, 0, 9];
    check(&file(16, RGBA, &rgba_16), &[[1, 2, 3, 4], [5, 6, 7, 0]]);
}

#[test]
fn palettes_and_transparent_colours_are_expanded() {
    let palette = [10, 20, 30, 40, 50, 60];
    let indexed = |depth| PngFile::new(2, 1, depth, PALETTE, 0).chunk(b"PLTE", &palette);
    let opaque = [[40, 50, 60, 255], [10, 20, 30, 255]];
    check(&indexed(8).picture(&[0, 1, 0]).end(), &opaque);
    check(&indexed(1).picture(&[0, 0b1000_0000]).end(), &opaque);
    let file = indexed(2).chunk(b"tRNS", &[7]).picture(&[0, 0b0100_0000]).end();
    check(&file, &[[40, 50, 60, 255], [10, 20, 30, 7]]);
    let file = PngFile::new(2, 1, 8, RGB, 0).chunk(b"tRNS", &[0, 1, 0, 2, 0, 3]);
    let file = file.picture(&[0, 1, 2, 3, 1, 2, 4]).end();
    check(&file, &[[1, 2, 3, 0], [1, 2, 4, 255]]);
    let file = PngFile::new(2, 1, 8, GREY, 0).chunk(b"tRNS", &[0, 9]).picture(&[0, 9, 8]).end();
    check(&file, &[[9, 9, 9, 0], [8, 8, 8, 255]]);
    check_refused(&PngFile::new(2, 1, 8, PALETTE, 0).picture(&[0, 1, 0]).end(), is_corrupt);
}

#[test]
fn interlaced_pictures_are_decoded() {
    /// First column and row, and the steps between columns and rows, of the passes of Adam7.
    const PASSES: [[usize; 4]; 7] = [
        [0, 0, 8, 8],
        [4, 0, 8, 8],
        [0, 4, 4, 8],
        [2, 0, 4, 4],
        [0, 2, 2, 4],
        [1, 0, 2, 2],
        [0, 1, 1, 2],
    ];
    for (width, height) in [(1, 1), (2, 3), (5, 5), (8, 8), (13, 17), (33, 9)] {
        for (colour, channels) in [(GREY, 1), (GREY_ALPHA, 2), (RGB, 3), (RGBA, 4)] {
            let value = |x: usize, y: usize, channel: usize| (31 * x + 7 * y + 50 * channel) as u8;
            let mut data = Vec::new();
            for [left, top, across, down] in PASSES.into_iter().filter(|pass| pass[0] < width) {
                for y in (top..height).step_by(down) {
                    data.push(0);
                    for x in (left..width).step_by(across) {
                        data.extend((0..channels).map(|channel| value(x, y, channel)));
                    }
                }
            }
            let places = (0..width * height).map(|place| (place % width, place / width));
            let expected: Vec<[u8; 4]> = places
                .map(|(x, y)| match colour {
                    GREY => [value(x, y, 0), value(x, y, 0), value(x, y, 0), 255],
                    GREY_ALPHA => [value(x, y, 0), value(x, y, 0), value(x, y, 0), value(x, y, 1)],
                    RGB => [value(x, y, 0), value(x, y, 1), value(x, y, 2), 255],
                    _ => std::array::from_fn(|channel| value(x, y, channel)),
                })
                .collect();
            let file = PngFile::new(width as u32, height as u32, 8, colour, 1);
            check(&file.picture(&data).end(), &expected);
        }
    }
}

#[test]
fn sides_are_limited() {
    let row = vec![0; 1 + PICTURE_SIDE_MAX as usize];
    let wide = |width| PngFile::new(width, 1, 8, GREY, 0).picture(&row).end();
    assert_eq!(Picture::from_png(&wide(PICTURE_SIDE_MAX)).unwrap().width(), PICTURE_SIDE_MAX);
    let is_invalid = |error: &PictureError| matches!(error, PictureError::InvalidSide { .. });
    check_refused(&wide(PICTURE_SIDE_MAX + 1), is_invalid);
    let column = vec![0; 2 * PICTURE_SIDE_MAX as usize];
    let high = |height| PngFile::new(1, height, 8, GREY, 0).picture(&column).end();
    assert_eq!(Picture::from_png(&high(PICTURE_SIDE_MAX)).unwrap().height(), PICTURE_SIDE_MAX);
    check_refused(&high(PICTURE_SIDE_MAX + 1), is_invalid);
    for size in [(0, 1), (1, 0), (u32::MAX, u32::MAX)] {
        let file = PngFile::new(size.0, size.1, 8, GREY, 0).end();
        assert!(Picture::from_png(&file).is_err(), "{size:?}");
        assert!(is_invalid(&Picture::from_rgba(size.0, size.1, Vec::new()).unwrap_err()));
    }
}

#[test]
fn the_number_of_pixels_is_limited_before_memory_is_allocated() {
    // The file ends behind its header, so the picture is neither allocated nor read.
    let file = |width| PngFile::new(width, 5_000, 16, RGBA, 0).end();
    check_refused(&file(10_000), is_corrupt);
    check_refused(&file(10_001), |error| {
        matches!(error, PictureError::TooManyPixels { pixels: 50_005_000 })
    });
}

#[test]
fn the_number_of_bytes_of_a_file_is_limited() {
    let zeros = vec![0; PICTURE_FILE_BYTES_MAX + 1];
    check_refused(&zeros[1..], is_corrupt);
    check_refused(&zeros, |error| matches!(error, PictureError::FileTooLarge { .. }));
}

#[test]
fn pictures_have_four_bytes_for_each_pixel() {
    assert!(Picture::from_rgba(2, 3, vec![0; 24]).is_ok());
    for bytes in [0, 23, 25] {
        let error = Picture::from_rgba(2, 3, vec![0; bytes]).unwrap_err();
        assert!(matches!(error, PictureError::WrongLength { expected: 24, .. }), "{error:?}");
    }
}

#[test]
fn text_and_colour_profiles_are_skipped_and_other_metadata_is_limited() {
    let file = |kind: &[u8; 4], bytes: usize| {
        let file = PngFile::new(1, 1, 8, GREY, 0).chunk(kind, &vec![1; bytes]);
        file.picture(&[0, 3]).chunk(b"tEXt", b"\xff\0\xff").end()
    };
    for kind in [b"tEXt", b"zTXt", b"iTXt", b"iCCP", b"abCd"] {
        check(&file(kind, 4 * PNG_METADATA_BYTES_MAX), &[[3, 3, 3, 255]]);
    }
    check(&file(b"eXIf", PNG_METADATA_BYTES_MAX / 2), &[[3, 3, 3, 255]]);
    let is_too_much = |error: &PictureError| matches!(error, PictureError::TooMuchMetadata);
    check_refused(&file(b"eXIf", 2 * PNG_METADATA_BYTES_MAX), is_too_much);
    check_refused(&file(b"ABCD", 1), is_corrupt);
}

#[test]
fn animations_are_refused() {
    let control = [0, 0, 0, 1, 0, 0, 0, 0];
    let file = PngFile::new(1, 1, 8, GREY, 0).chunk(b"acTL", &control).picture(&[0, 3]).end();
    check_refused(&file, |error| matches!(error, PictureError::Animated));
}

#[test]
fn data_beyond_the_picture_is_not_decompressed() {
    let mut file =
        encoded(10_000, 5_000, ColorType::Grayscale, BitDepth::One, &vec![0; 1_250 * 5_000]);
    set_height(&mut file, 1);
    assert_eq!(Picture::from_png(&file).unwrap().height(), 1);
}

#[test]
fn files_that_are_not_png_are_refused() {
    check_refused(b"", |error| matches!(error, PictureError::Truncated));
    check_refused(b"GIF89a\x01\0\x01\0\0\0\0", is_corrupt);
    check_refused(&PngFile::new(1, 1, 8, GREY, 0).end(), is_corrupt);
    check_refused(&PngFile::new(1, 1, 3, GREY, 0).picture(&[0, 0]).end(), is_corrupt);
    check_refused(&PngFile::new(1, 1, 8, 1, 0).picture(&[0, 0]).end(), is_corrupt);
    check_refused(&PngFile::new(1, 1, 8, GREY, 2).picture(&[0, 0]).end(), is_corrupt);
    check_refused(&PngFile::new(1, 1, 8, GREY, 0).picture(&[9, 0]).end(), is_corrupt);
    // A row is missing.
    check_refused(&PngFile::new(1, 2, 8, GREY, 0).picture(&[0, 0]).end(), is_corrupt);
}

fn samples() -> Vec<Vec<u8>> {
    let noise: Vec<u8> = (0..400_u32).map(|byte| (byte.wrapping_mul(193) >> 3) as u8).collect();
    let palette = PngFile::new(2, 1, 8, PALETTE, 0).chunk(b"PLTE", &[1, 2, 3, 4, 5, 6]);
    vec![
        blank(20, 20).to_png().unwrap(),
        encoded(10, 10, ColorType::Rgba, BitDepth::Eight, &noise),
        encoded(10, 10, ColorType::Grayscale, BitDepth::Sixteen, &noise[..200]),
        palette.chunk(b"tRNS", &[7]).picture(&[0, 1, 0]).end(),
        PngFile::new(2, 2, 8, GREY, 1).picture(&[0, 1, 0, 2, 0, 3, 4]).end(),
    ]
}

#[test]
fn every_truncation_is_refused() {
    for file in samples() {
        assert!(Picture::from_png(&file).is_ok());
        for length in 0..file.len() {
            assert!(Picture::from_png(&file[..length]).is_err(), "{length} of {}", file.len());
        }
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    for file in samples() {
        for place in 0..file.len() {
            for mask in [1, 0x20, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[place] ^= mask;
                assert!(Picture::from_png(&changed).is_err(), "byte {place}, {mask:#x}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_data_panics(
        data in prop::collection::vec(any::<u8>(), 0..300),
        header in (1_u32..40, 1_u32..40, 0_u8..17, 0_u8..8, 0_u8..3),
        is_compressed in any::<bool>(),
    ) {
        let (width, height, depth, colour, interlace) = header;
        let file = PngFile::new(width, height, depth, colour, interlace)
            .chunk(b"PLTE", &data[..data.len() / 30 * 3])
            .chunk(b"tRNS", &data[..data.len().min(6)]);
        let file = if is_compressed { file.chunk(b"IDAT", &data) } else { file.picture(&data) };
        let decoded = Picture::from_png(&file.end());
        prop_assert!(decoded.is_err() || decoded.is_ok_and(|picture| picture.width() == width));
    }
}
