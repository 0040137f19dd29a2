//! The types of metric families that agents declare (`# TYPE` in Prometheus), apart from the
//! samples.
//!
//! Kept in memory only and bounded: agents repeat the declarations every minute, and they are
//! needed only when a metric is created.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::limits::{FAMILIES_MAX, FAMILY_NAME_BYTES_MAX};

/// The type of a family, as in Prometheus and OpenMetrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// Only grows, until its process restarts.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Cumulative buckets, with the count and the sum of their values.
    Histogram,
    /// Buckets that go up and down.
    GaugeHistogram,
    /// Quantiles, with a cumulative count and sum.
    Summary,
    /// Always 1; its labels carry the information.
    Info,
    /// 1 for the current state, and 0 for the others.
    StateSet,
}

/// The types of families by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Families(Arc<RwLock<HashMap<Box<str>, FamilyKind>>>);

impl Families {
    /// Returns the type that agents declared last for a family.
    pub fn get(&self, name: &str) -> Option<FamilyKind> {
        self.0.read().get(name).copied()
    }

    /// Records a declared type. Names too long for a metric are ignored. When the limit is reached,
    /// all types are dropped: agents soon repeat those that are still in use.
    pub fn note(&self, name: &str, kind: FamilyKind) {
        if name.len() > FAMILY_NAME_BYTES_MAX || self.get(name) == Some(kind) {
            return;
        }
        let mut families = self.0.write();
        if families.len() >= FAMILIES_MAX {
            families.clear();
        }
        families.insert(name.into(), kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_declared_type_wins() {
        let families = Families::default();
        families.note("a", FamilyKind::Counter);
        families.clone().note("a", FamilyKind::Gauge);
        families.note(&"x".repeat(FAMILY_NAME_BYTES_MAX + 1), FamilyKind::Gauge);
        assert_eq!((families.get("a"), families.0.read().len()), (Some(FamilyKind::Gauge), 1));
    }

    #[test]
    fn the_number_of_families_is_bounded() {
        let families = Families::default();
        for i in 0..=FAMILIES_MAX {
            families.note(&i.to_string(), FamilyKind::Counter);
        }
        assert_eq!(families.0.read().len(), 1);
        assert_eq!(families.get(&FAMILIES_MAX.to_string()), Some(FamilyKind::Counter));
    }
}
