//! Decodes PNG files.
//!
//! All colour types, bit depths and interlacing are decoded to eight bits of red, green, blue and
//! alpha; of sixteen bits the upper eight are kept. Metadata is skipped, that of the colour space
//! too. All checksums except that of the compressed data, which another one covers, are verified.

use std::io::Cursor;

use png::{ColorType, DecodeOptions, Decoder, InterlaceInfo, Limits, Reader, Transformations};

use super::error::PictureError;
use super::limits::{PICTURE_FILE_BYTES_MAX, PNG_METADATA_BYTES_MAX};
use super::picture::{PIXEL_BYTES, Picture, pixels_of};
use super::plane::Pixel;

const PIXEL_BITS: u8 = 8 * PIXEL_BYTES as u8;

/// Bytes of four pixels of three bytes.
const FOUR_RGB_BYTES: usize = 12;

impl Picture {
    /// Decodes a PNG file. Its limits are checked before memory is allocated for it.
    pub fn from_png(file: &[u8]) -> Result<Self, PictureError> {
        if file.len() > PICTURE_FILE_BYTES_MAX {
            return Err(PictureError::FileTooLarge { bytes: file.len() });
        }
        let mut decoder = decoder(file);
        let header = decoder.read_header_info()?;
        let (width, height) = (header.width, header.height);
        let pixels = pixels_of(width, height)?;
        let mut reader = decoder.read_info()?;
        if reader.info().animation_control.is_some() {
            return Err(PictureError::Animated);
        }
        let rgba_bytes = pixels as usize * PIXEL_BYTES;
        let rgba = if reader.info().interlaced {
            interlaced_rows(&mut reader, width as usize, rgba_bytes)?
        } else {
            rows(&mut reader, width as usize, rgba_bytes)?
        };
        reader.finish()?;
        Self::from_rgba(width, height, rgba)
    }
}

fn decoder(file: &[u8]) -> Decoder<Cursor<&[u8]>> {
    let mut options = DecodeOptions::default();
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    options.set_skip_ancillary_crc_failures(false);
    let mut decoder = Decoder::new_with_options(Cursor::new(file), options);
    decoder.set_limits(Limits { bytes: PNG_METADATA_BYTES_MAX });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    decoder
}

/// Reads all rows. They are appended, so that no zeros are written before them.
fn rows(
    reader: &mut Reader<Cursor<&[u8]>>,
    width: usize,
    rgba_bytes: usize,
) -> Result<Vec<u8>, PictureError> {
    let (colour, _) = reader.output_color_type();
    let mut row = vec![0; width * colour.samples()];
    let mut wide = vec![[0; PIXEL_BYTES]; width];
    let mut rgba = Vec::with_capacity(rgba_bytes);
    while reader.read_row(&mut row)?.is_some() {
        if colour == ColorType::Rgba {
            rgba.extend_from_slice(&row);
        } else {
            widen(colour, &row, &mut wide);
            rgba.extend_from_slice(wide.as_flattened());
        }
    }
    Ok(rgba)
}

/// Reads the rows of all passes.
fn interlaced_rows(
    reader: &mut Reader<Cursor<&[u8]>>,
    width: usize,
    rgba_bytes: usize,
) -> Result<Vec<u8>, PictureError> {
    let (colour, _) = reader.output_color_type();
    let mut row = vec![0; width * colour.samples()];
    let mut wide = vec![[0; PIXEL_BYTES]; width];
    let mut rgba = vec![0; rgba_bytes];
    let row_bytes = width * PIXEL_BYTES;
    while let Some(place) = reader.read_row(&mut row)? {
        if let InterlaceInfo::Adam7(place) = place {
            widen(colour, &row, &mut wide);
            png::expand_interlaced_row(
                &mut rgba,
                row_bytes,
                wide.as_flattened(),
                &place,
                PIXEL_BITS,
            );
        }
    }
    Ok(rgba)
}

/// Converts pixels of one to four bytes.
fn widen(colour: ColorType, row: &[u8], pixels: &mut [Pixel]) {
    match colour {
        ColorType::Grayscale => {
            for (grey, pixel) in row.iter().zip(pixels) {
                *pixel = [*grey, *grey, *grey, 255];
            }
        }
        ColorType::GrayscaleAlpha => {
            for ([grey, alpha], pixel) in row.as_chunks().0.iter().zip(pixels) {
                *pixel = [*grey, *grey, *grey, *alpha];
            }
        }
        ColorType::Rgb => widen_rgb(row, pixels),
        ColorType::Rgba => pixels.as_flattened_mut().copy_from_slice(row),
        ColorType::Indexed => unreachable!("the decoder expands palettes"),
    }
}

/// Converts four pixels at a time, as numbers of 96 bits.
fn widen_rgb(row: &[u8], pixels: &mut [Pixel]) {
    const OPAQUE: u32 = 0xff00_0000;
    let (row_chunks, last_row) = row.as_chunks::<FOUR_RGB_BYTES>();
    let (pixel_chunks, last_pixels) = pixels.as_chunks_mut::<4>();
    for ([a, b, c, d, e, f, g, h, i, j, k, l], pixels) in row_chunks.iter().zip(pixel_chunks) {
        let low = u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
        let high = u32::from_le_bytes([*i, *j, *k, *l]);
        *pixels = [
            (low as u32 | OPAQUE).to_le_bytes(),
            ((low >> 24) as u32 | OPAQUE).to_le_bytes(),
            ((low >> 48) as u32 | high << 16 | OPAQUE).to_le_bytes(),
            (high >> 8 | OPAQUE).to_le_bytes(),
        ];
    }
    for ([red, green, blue], pixel) in last_row.as_chunks().0.iter().zip(last_pixels) {
        *pixel = [*red, *green, *blue, 255];
    }
}
