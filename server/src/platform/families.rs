//! What agents say of their metrics, apart from the points: the type of each family, as Prometheus calls the metrics that
//! one `# TYPE` line is about.
//!
//! Kept in memory alone, and only so many: agents repeat it every minute, and it is looked at only when a metric is made.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::limits::{FAMILIES_MAX, FAMILY_NAME_BYTES_MAX};

/// The type of a family, as Prometheus and OpenMetrics have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// Grows until its process starts anew.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Cumulative buckets, with the count and the sum of what is in them.
    Histogram,
    /// Buckets that go up and down.
    GaugeHistogram,
    /// Quantiles, with a cumulative count and sum.
    Summary,
    /// Always 1: its labels are what it tells.
    Info,
    /// 1 for the state that holds, and 0 for the others.
    StateSet,
}

/// The types of families by name, shared by all who hold it.
#[derive(Clone, Debug, Default)]
pub struct Families(Arc<RwLock<HashMap<Box<str>, FamilyKind>>>);

impl Families {
    /// The type that agents say a family has.
    pub fn get(&self, name: &str) -> Option<FamilyKind> {
        self.0.read().get(name).copied()
    }

    /// Notes what an agent says. A name that no metric can have is forgotten at once; past the limit all are, for
    /// those that are still in use are soon told again.
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
    fn what_was_said_last_holds() {
        let families = Families::default();
        families.note("a", FamilyKind::Counter);
        families.clone().note("a", FamilyKind::Gauge);
        families.note(&"x".repeat(FAMILY_NAME_BYTES_MAX + 1), FamilyKind::Gauge);
        assert_eq!((families.get("a"), families.0.read().len()), (Some(FamilyKind::Gauge), 1));
    }

    #[test]
    fn there_are_only_so_many() {
        let families = Families::default();
        for i in 0..=FAMILIES_MAX {
            families.note(&i.to_string(), FamilyKind::Counter);
        }
        assert_eq!(families.0.read().len(), 1);
        assert_eq!(families.get(&FAMILIES_MAX.to_string()), Some(FamilyKind::Counter));
    }
}
