//! Which type a metric gets that does not exist yet: what agents say of it, or else what its name ends in.

use telltale_engine::MetricType;

use super::families::{Families, FamilyKind};

/// What names of cumulative counts end in, by the conventions of Prometheus.
const CUMULATIVE: [&str; 4] = ["_total", "_count", "_sum", "_bucket"];

/// The type of a new metric with numbers for values. `said` is what the request says of it; `families` is
/// what was said before.
pub(super) fn kind_of(name: &str, said: Option<FamilyKind>, families: &Families) -> MetricType {
    if let Some(family) = said.or_else(|| families.get(name)) {
        return kind_in(family, name);
    }
    let buckets_of = name.strip_suffix("_bucket").and_then(|family| families.get(family));
    if buckets_of != Some(FamilyKind::GaugeHistogram) && is_cumulative(name) {
        MetricType::Counter
    } else {
        MetricType::Gauge
    }
}

/// The type of a family's metric with this name.
fn kind_in(family: FamilyKind, name: &str) -> MetricType {
    match family {
        FamilyKind::Counter => MetricType::Counter,
        // The quantiles of a summary are what has its name alone.
        FamilyKind::Histogram | FamilyKind::Summary if is_cumulative(name) => MetricType::Counter,
        FamilyKind::Histogram
        | FamilyKind::Summary
        | FamilyKind::Gauge
        | FamilyKind::GaugeHistogram
        | FamilyKind::Info
        | FamilyKind::StateSet => MetricType::Gauge,
    }
}

fn is_cumulative(name: &str) -> bool {
    CUMULATIVE.iter().any(|suffix| name.ends_with(suffix))
}

/// The type with this number, the same in both versions of the protocol; none when it is not known.
pub(super) fn family_kind(number: u64) -> Option<FamilyKind> {
    match number {
        1 => Some(FamilyKind::Counter),
        2 => Some(FamilyKind::Gauge),
        3 => Some(FamilyKind::Histogram),
        4 => Some(FamilyKind::GaugeHistogram),
        5 => Some(FamilyKind::Summary),
        6 => Some(FamilyKind::Info),
        7 => Some(FamilyKind::StateSet),
        _ => None,
    }
}
