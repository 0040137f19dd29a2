//! Entry points of the fuzz targets: cumulative samples and stored pages from arbitrary bytes.

use super::last_values::LastValues;
use super::stored;
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::Effort;
use crate::model::{Columns, CumulativeSamples, SeriesId};

/// The number of series known to the engine under fuzzing.
const SERIES: u32 = 1 << 16;

/// Applies cumulative samples, and applies them again once all of them are known.
pub(crate) fn compare(cumulative: CumulativeSamples) {
    let mut last_values = LastValues::default();
    for again in [cumulative.clone(), cumulative] {
        let mut points = Columns::default();
        let known = |series: SeriesId| series.0 < SERIES;
        last_values.compare(again, known, &mut points);
        assert!(points.values.iter().all(|bits| f64::from_bits(*bits).is_finite()));
        last_values.freeze();
    }
}

/// Decodes a page. Encoding a decoded page must give bytes that decode and encode to themselves.
pub(crate) fn read_page(counters: bool, payload: &[u8]) {
    let kind = if counters { FrameKind::CounterLastValues } else { FrameKind::HistogramLastValues };
    let mut row = Vec::new();
    let mark = frame::begin(&mut row, kind, 1);
    row.extend_from_slice(payload);
    frame::close(&mut row, mark);
    let again = |row: &[u8]| {
        if counters {
            stored::decode_counters(0, row)
                .and_then(|page| stored::encode_counters(0, &page, Effort::Seal))
        } else {
            stored::decode_histograms(0, row)
                .and_then(|page| stored::encode_histograms(0, &page, Effort::Seal))
        }
    };
    if let Ok(written) = again(&row) {
        assert_eq!(again(&written), Ok(written), "a page round-trips");
    }
}
