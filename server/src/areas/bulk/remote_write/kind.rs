//! The type of a new metric: from metadata, or else from the suffix of its name; and the form of
//! the values of each type.

use telltale_engine::MetricType;

use super::families::{Families, FamilyKind};
use crate::areas::bulk::protobuf::{Fields, Malformed};

/// The suffixes of cumulative metrics in the naming conventions of Prometheus.
const CUMULATIVE: [&str; 4] = ["_total", "_count", "_sum", "_bucket"];

/// The form of a series' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Samples,
    Histograms,
}

impl ValueForm {
    /// Returns whether metrics of this type have values of this form.
    #[inline]
    pub(super) fn of(self, kind: MetricType) -> bool {
        match self {
            Self::Samples => matches!(kind, MetricType::Counter | MetricType::Gauge),
            Self::Histograms => kind == MetricType::Distribution,
        }
    }
}

/// Returns the type of a new numeric metric. `declared` is the metadata in the request itself,
/// which takes precedence over the metadata in `families` from earlier requests.
pub(super) fn kind_of(name: &str, declared: Option<FamilyKind>, families: &Families) -> MetricType {
    if let Some(family) = declared.or_else(|| families.get(name)) {
        return kind_in(family, name);
    }
    let buckets_of = name.strip_suffix("_bucket").and_then(|family| families.get(family));
    if buckets_of != Some(FamilyKind::GaugeHistogram) && is_cumulative(name) {
        MetricType::Counter
    } else {
        MetricType::Gauge
    }
}

/// Records the metric metadata of version 1 for a family. Metadata with an unknown type or an
/// invalid name is ignored: no sample can refer to it.
pub(super) fn record_metadata(families: &Families, metadata: &[u8]) -> Result<(), Malformed> {
    let (mut kind, mut name): (_, &[u8]) = (None, &[]);
    for field in Fields::of(metadata) {
        match field? {
            (1, number) => kind = family_kind(number.varint()?),
            (2, text) => name = text.bytes()?,
            _ => {}
        }
    }
    if let (Some(kind), Ok(name)) = (kind, std::str::from_utf8(name)) {
        families.note(name, kind);
    }
    Ok(())
}

/// Returns the type of the metric with this name in a family.
fn kind_in(family: FamilyKind, name: &str) -> MetricType {
    match family {
        FamilyKind::Counter => MetricType::Counter,
        // In a summary, the metric with the family's own name contains the quantiles.
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

/// Returns the family type with this number, the same in both versions; `None` if unknown.
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
