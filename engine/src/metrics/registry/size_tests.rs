//! The memory size that the registry reports, compared with a walk over all of it.

use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::series::{CardinalityLimits, Registry};
use crate::model::{MetricId, MetricType, SeriesId, TimestampMs};
use crate::storage::Batch;

/// A change of a registry.
#[derive(Clone, Debug)]
enum Step {
    /// Creates or finds series of a metric, with this many tags.
    Create {
        metric: u8,
        first: u16,
        count: u16,
        tags: usize,
    },
    /// Definitions are logged, or put back because logging fails.
    Log {
        fails: bool,
    },
    /// Definitions and last days are on disk.
    Seal,
    /// All series retire except every `kept`th and the one a writer looks up meanwhile.
    Retire {
        kept: u32,
        looked_up: u16,
    },
    Drop {
        metric: u8,
    },
}

const METRICS: u8 = 4;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..METRICS, 0u16..2_000, 1u16..400, 0usize..4)
            .prop_map(|(metric, first, count, tags)| Step::Create { metric, first, count, tags }),
        2 => any::<bool>().prop_map(|fails| Step::Log { fails }),
        2 => Just(Step::Seal),
        2 => (1u32..9, 0u16..2_000).prop_map(|(kept, looked_up)| Step::Retire { kept, looked_up }),
        1 => (0..METRICS).prop_map(|metric| Step::Drop { metric }),
    ]
}

fn name(metric: u8) -> String {
    format!("metric.{metric}")
}

/// Creates a series with tags of which the first is unique and the others are shared by many
/// series.
fn create(registry: &Registry, metric: u8, series: u16, tags: usize) -> SeriesId {
    let values = [format!("pod-{series:05}"), format!("zone-{}", series % 3), "prod".to_owned()];
    let pairs = ["pod", "zone", "env"].into_iter().zip(values.iter().map(String::as_str));
    let pairs: Vec<(&str, &str)> = pairs.take(tags).collect();
    registry.lookup().series(&name(metric), MetricType::Gauge, &pairs).unwrap()
}

impl Step {
    fn run(self, registry: &Registry) {
        match self {
            Self::Create { metric, first, count, tags } => {
                for series in first..first + count {
                    let id = create(registry, metric, series, tags);
                    // Many on the same day, and some on an earlier one than those before.
                    let day = i64::from(series / 500);
                    registry.raise_last_day(id, TimestampMs(day * 86_400_000));
                }
            }
            Self::Log { fails } => {
                let definitions = registry.take_unlogged();
                match fails {
                    true => registry.put_back_unlogged(definitions),
                    false => registry.note_unsealed(&definitions),
                }
            }
            Self::Seal => {
                let mut batch = Batch::new();
                let unsealed = registry.take_unsealed();
                let rows = super::RegistryRows(&mut batch).define(registry, &unsealed);
                rows.unwrap().written(registry);
            }
            Self::Retire { kept, looked_up } => retire(registry, kept, looked_up),
            Self::Drop { metric } => {
                let id: Option<MetricId> = registry.with_metric(&name(metric), |metric| metric.id);
                id.and_then(|id| registry.drop_metric(id));
            }
        }
    }
}

fn retire(registry: &Registry, kept: u32, looked_up: u16) {
    let all = registry.all_series();
    let silent: RoaringBitmap =
        all.iter().map(|(series, _)| series.0).filter(|id| id % kept != 0).collect();
    registry.mark_retiring(&silent);
    registry.begin_grace();
    create(registry, 0, looked_up, 1);
    registry.remove_retiring(&silent, |_| ());
    let (removed, segments) = registry.segments_with_removed();
    let mut segments = segments.as_slice();
    while !segments.is_empty() {
        let (taken, removal) =
            registry.stage_removal(segments, &removed, &mut Batch::new()).unwrap();
        registry.removal_written(removal);
        segments = segments.get(taken..).unwrap_or_default();
    }
    registry.removed_series_written(&removed);
    registry.end_retirement();
}

fn registry() -> Registry {
    Registry::new(CardinalityLimits { per_metric: 1 << 20, tag_keys: 10, total: 1 << 20 })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_reported_bytes_of_the_registry_match_a_walk(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let registry = registry();
        for step in steps {
            let what = format!("{step:?}");
            step.run(&registry);
            let (reported, walked) = (registry.size().2, registry.walked_bytes());
            // All sets have few containers and are measured after each change.
            prop_assert_eq!(reported, walked, "after {}", what);
        }
    }
}

#[test]
fn the_reported_bytes_of_many_series_are_accurate_within_a_hundredth() {
    let registry = registry();
    let empty = registry.size().2;
    // Ids far apart, so that sets have many containers.
    for series in 0..5_000 {
        create(&registry, 0, series, 3);
        let (metric, next) = registry.next_ids();
        registry.reserve(metric, SeriesId(next.0 + 997));
    }
    let (reported, walked) = (registry.size().2 as f64, registry.walked_bytes() as f64);
    assert!((reported - walked).abs() < walked / 100.0, "{reported} of {walked}");
    // At least the bytes of names, tags and slots: 5 000 tag values, each stored once.
    assert!(reported > 5_000.0 * 100.0, "{reported}");
    let id = registry.with_metric(&name(0), |metric| metric.id).unwrap();
    registry.drop_metric(id).unwrap();
    drop(registry.take_unlogged());
    assert_eq!(registry.size().2, registry.walked_bytes());
    // Tables keep their capacity for later series.
    assert!(
        ((registry.size().2 - empty) as f64) < reported * 0.6,
        "{} of {reported}",
        registry.size().2
    );
}
