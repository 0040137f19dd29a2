//! Series, their points, and the trait of generators that produce points in sending order.

/// The first timestamp of all sets, 2024-01-01T00:00:00Z.
pub(crate) const T0_MS: i64 = 1_704_067_200_000;
pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;

/// A metric name and tags.
pub(crate) struct Series {
    pub(crate) metric: String,
    pub(crate) tags: Vec<(&'static str, String)>,
}

/// One value of a series.
pub(crate) struct Point {
    pub(crate) series: usize,
    pub(crate) time_ms: i64,
    pub(crate) value: f64,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Integers, marked as such in line protocol.
    Integers,
    /// The shortest decimals that parse to the same double.
    Doubles,
}

/// The metric type of a set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Gauge,
    Distribution,
}

/// A generator of points in sending order.
pub(crate) trait Source {
    fn series(&self) -> &[Series];

    fn numbers(&self) -> Numbers;

    fn kind(&self) -> Kind;

    /// Returns how many neighbouring series a wide line contains.
    fn fields_per_line(&self) -> usize {
        1
    }

    /// Appends the points of the next timestamp to `points`; none at the end.
    fn next_into(&mut self, points: &mut Vec<Point>);
}

/// Formats a timestamp of January 2024 as the API does.
pub(crate) fn iso(time_ms: i64) -> String {
    let since = time_ms - T0_MS;
    let (day, rest) = (since.div_euclid(DAY_MS), since.rem_euclid(DAY_MS));
    debug_assert!((0..31).contains(&day), "all sets are in January 2024");
    let (hour, rest) = (rest / HOUR_MS, rest % HOUR_MS);
    let (minute, rest) = (rest / 60_000, rest % 60_000);
    let (second, ms) = (rest / 1_000, rest % 1_000);
    format!("2024-01-{:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted_as_by_the_api() {
        assert_eq!(iso(T0_MS), "2024-01-01T00:00:00.000Z");
        assert_eq!(iso(T0_MS + DAY_MS + 13 * HOUR_MS + 61_007), "2024-01-02T13:01:01.007Z");
    }
}
