//! What every set of metrics is made of: series, points of them, and a source that hands them out
//! in order of sending.

/// The first instant of all sets, 2024-01-01T00:00:00Z.
pub(crate) const T0_MS: i64 = 1_704_067_200_000;
pub(crate) const HOUR_MS: i64 = 3_600_000;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;

/// A name of a metric and tags.
pub(crate) struct Series {
    pub(crate) metric: String,
    pub(crate) tags: Vec<(&'static str, String)>,
}

/// A value of a series at a time.
pub(crate) struct Point {
    pub(crate) series: usize,
    pub(crate) time_ms: i64,
    pub(crate) value: f64,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Whole ones, marked as such in line protocol.
    Integers,
    /// The shortest decimals that mean the same double.
    Doubles,
}

/// What a set says of its points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Gauge,
    Distribution,
}

/// Points in the order in which agents send them.
pub(crate) trait Source {
    fn series(&self) -> &[Series];

    fn numbers(&self) -> Numbers;

    fn kind(&self) -> Kind;

    /// How many neighbouring series one wide line carries.
    fn fields_per_line(&self) -> usize {
        1
    }

    /// Puts the points of the next moment into `points`; nothing when all were told.
    fn next_into(&mut self, points: &mut Vec<Point>);
}

/// An instant of January 2024 as the API writes it.
pub(crate) fn iso(time_ms: i64) -> String {
    let since = time_ms - T0_MS;
    let (day, rest) = (since.div_euclid(DAY_MS), since.rem_euclid(DAY_MS));
    debug_assert!((0..31).contains(&day), "all sets lie in January 2024");
    let (hour, rest) = (rest / HOUR_MS, rest % HOUR_MS);
    let (minute, rest) = (rest / 60_000, rest % 60_000);
    let (second, ms) = (rest / 1_000, rest % 1_000);
    format!("2024-01-{:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_the_api_does() {
        assert_eq!(iso(T0_MS), "2024-01-01T00:00:00.000Z");
        assert_eq!(iso(T0_MS + DAY_MS + 13 * HOUR_MS + 61_007), "2024-01-02T13:01:01.007Z");
    }
}
