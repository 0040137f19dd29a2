//! Sparklines: values drawn as `▁▂▃▄▅▆▇█`, and a space where there is no data.

/// The bars, lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws `values` in at most `columns_max` characters. If there are more values than columns, a
/// column shows the mean of its values. A constant row is drawn with the lowest bar.
pub(super) fn draw(values: &[Option<f64>], columns_max: usize) -> String {
    let columns = squeeze(values, columns_max.max(1));
    let (low, high) = match extent(&columns) {
        Some(extent) => extent,
        None => return " ".repeat(columns.len()),
    };
    columns.iter().map(|value| value.map_or(' ', |value| bar(value, low, high))).collect()
}

/// Returns the smallest and the largest value, if there are any.
pub(super) fn extent(values: &[Option<f64>]) -> Option<(f64, f64)> {
    values.iter().flatten().fold(None, |extent, value| match extent {
        None => Some((*value, *value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

fn bar(value: f64, low: f64, high: f64) -> char {
    // Halved, because the span of two finite numbers may be infinite.
    let span = high / 2.0 - low / 2.0;
    let share = if span > 0.0 { (value / 2.0 - low / 2.0) / span } else { 0.0 };
    let top = BARS.len() - 1;
    // The value is between 0 and the number of bars, so the cast neither truncates nor loses a
    // sign.
    let index = (share * BARS.len() as f64) as usize;
    BARS.get(index.min(top)).copied().unwrap_or(' ')
}

fn squeeze(values: &[Option<f64>], columns_max: usize) -> Vec<Option<f64>> {
    if values.len() <= columns_max {
        return values.to_vec();
    }
    (0..columns_max)
        .map(|column| {
            let start = column * values.len() / columns_max;
            let end = (column + 1) * values.len() / columns_max;
            values.get(start..end).and_then(mean)
        })
        .collect()
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let present: Vec<f64> = values.iter().flatten().copied().collect();
    if present.is_empty() {
        return None;
    }
    let count = present.len() as f64;
    Some(present.iter().map(|value| value / count).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[Option<f64>], columns_max: usize, expected: &str) {
        assert_eq!(draw(values, columns_max), expected, "{values:?} in {columns_max}");
    }

    #[test]
    fn bars_span_from_the_smallest_to_the_largest_value() {
        let rising: Vec<Option<f64>> = (0..8).map(|n| Some(f64::from(n))).collect();
        check(&rising, 80, "▁▂▃▄▅▆▇█");
        check(&[Some(-5.0), Some(5.0)], 80, "▁█");
        check(&[Some(f64::MIN), Some(0.0), Some(f64::MAX)], 80, "▁▅█");
    }

    #[test]
    fn missing_values_are_gaps_and_a_constant_is_flat() {
        check(&[Some(1.0), None, Some(2.0)], 80, "▁ █");
        check(&[Some(7.0), Some(7.0)], 80, "▁▁");
        check(&[None, None], 80, "  ");
        check(&[], 80, "");
    }

    #[test]
    fn too_many_values_share_columns_by_their_mean() {
        check(&[Some(0.0), Some(2.0), Some(10.0), Some(12.0)], 2, "▁█");
        check(&[Some(0.0), None, None, None, Some(4.0), None], 3, "▁ █");
        let many: Vec<Option<f64>> = (0..10_000).map(|n| Some(f64::from(n))).collect();
        check(&many, 8, "▁▂▃▄▅▆▇█");
    }
}
