//! Which pixels of a row are compared.

use std::ops::Range;

use super::rectangle::Rectangle;

/// Writes the parts of a row of `width` pixels that belong to no ignored region to `spans`, from
/// left to right.
pub(super) fn compared_spans(
    ignored: &[Rectangle],
    y: usize,
    width: usize,
    spans: &mut Vec<Range<usize>>,
) {
    spans.clear();
    let rows = |region: &Rectangle| span(region.y, region.height);
    let mut ignored: Vec<Range<usize>> = ignored
        .iter()
        .filter(|region| rows(region).contains(&y))
        .map(|region| span(region.x, region.width))
        .collect();
    ignored.sort_unstable_by_key(|range| range.start);
    let mut start = 0;
    for range in ignored {
        let end = range.start.min(width);
        if start < end {
            spans.push(start..end);
        }
        start = start.max(range.end);
    }
    if start < width {
        spans.push(start..width);
    }
}

/// Returns the range of pixels from `start` on, as far as it can be represented.
fn span(start: u32, length: u32) -> Range<usize> {
    start as usize..start.saturating_add(length) as usize
}
