//! Pictures like captures of a long page.

use telltale_server::areas::snapshots::compare::Picture;

/// The width of a page in pixels.
pub const PAGE_WIDTH: u32 = 1_280;
/// The height of a page in pixels.
pub const PAGE_HEIGHT: u32 = 8_000;
/// Rows of a line of text.
const LINE: u32 = 20;

/// Returns a page: lines of smooth strokes on areas of one colour, and some gradients. In the
/// changed page, one line of `changed_every` has other strokes.
///
/// # Panics
/// When such a picture is refused.
pub fn page(changed_every: Option<u32>) -> Picture {
    let pixel = |place: u32| {
        let (x, y) = (place % PAGE_WIDTH, place / PAGE_WIDTH);
        let line = y / LINE;
        let background = if (line / 20).is_multiple_of(2) { 255 } else { 247 };
        if y < 200 {
            return [(x / 8) as u8, 64, 128 + (x / 16) as u8, 255];
        }
        let is_changed = changed_every.is_some_and(|every| line % every == 7);
        let stroke = (x / 2 * 7 + line * 13 + y % LINE * 3 + u32::from(is_changed) * 5) % 11;
        let is_text = (200..1_000).contains(&x) && (5..15).contains(&(y % LINE)) && stroke < 4;
        let grey = if is_text { (background * stroke / 4) as u8 } else { background as u8 };
        [grey, grey, grey.saturating_add(2), 255]
    };
    let rgba = (0..PAGE_WIDTH * PAGE_HEIGHT).flat_map(pixel).collect();
    Picture::from_rgba(PAGE_WIDTH, PAGE_HEIGHT, rgba).unwrap_or_else(|error| panic!("{error}"))
}
