//! The server's own metrics, created at each start with their types.
//!
//! Names that begin with `telltale.` are reserved, but earlier versions accepted them from clients.
//! A client's metric that has the name of one of ours and another type is deleted here, because
//! ours could not be written otherwise. All other client metrics with the prefix are kept and can
//! be queried until they expire.

use telltale_engine::{Engine, MetricType, Result};

use crate::areas::errors::ERROR_METRICS;
use crate::areas::status::MONITOR_METRICS;
use crate::jobs::HISTORY_METRICS;
use crate::platform::self_metrics::HEALTH_METRICS;

/// Creates the metrics of the server. Must be called at start, before anything is written. Blocks.
pub(crate) fn create_own_metrics(engine: &Engine) -> Result<()> {
    for (name, kind) in all() {
        if let Some(other) = engine.metric_type(name).filter(|is| is != kind) {
            tracing::warn!(
                name,
                kind = %other,
                "deleted a metric: it has the name of one of the server's own metrics and another type"
            );
            engine.delete_metric(name)?;
        }
    }
    let mut batch = engine.own_batch();
    for (name, kind) in all() {
        batch.metric(name, *kind)?;
    }
    Ok(())
}

fn all() -> impl Iterator<Item = &'static (&'static str, MetricType)> {
    HEALTH_METRICS.iter().chain(HISTORY_METRICS).chain(ERROR_METRICS).chain(MONITOR_METRICS)
}

#[cfg(test)]
mod tests {
    use telltale_engine::limits::RESERVED_PREFIX;
    use telltale_engine::{Maintenance, Options, TimestampMs};

    use super::*;

    fn open() -> (tempfile::TempDir, Engine) {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
        let engine = Engine::open(&dir.path().join("data"), options).unwrap();
        (dir, engine)
    }

    fn write(engine: &Engine, name: &str, kind: MetricType) {
        let mut batch = engine.own_batch();
        let series = batch.series(name, kind, &[]).unwrap();
        batch.number(kind, series, TimestampMs(1_767_323_045_678), 1.0);
        engine.write(batch.finish()).unwrap();
    }

    #[test]
    fn all_own_names_are_reserved_and_known_from_the_start() {
        let (_dir, engine) = open();
        create_own_metrics(&engine).unwrap();
        create_own_metrics(&engine).unwrap();
        for (name, kind) in all() {
            assert!(name.starts_with(RESERVED_PREFIX), "{name}");
            assert_eq!(engine.metric_type(name), Some(*kind), "{name}");
        }
    }

    #[test]
    fn metrics_of_clients_are_deleted_only_if_the_type_differs() {
        let (_dir, engine) = open();
        write(&engine, "telltale.jobs.failed", MetricType::Gauge);
        write(&engine, "telltale.jobs.processed", MetricType::Counter);
        write(&engine, "telltale.mine", MetricType::Gauge);
        create_own_metrics(&engine).unwrap();
        assert_eq!(engine.metric_type("telltale.jobs.failed"), Some(MetricType::Counter));
        assert!(engine.metric("telltale.jobs.failed").unwrap().is_none(), "its points are deleted");
        assert!(engine.metric("telltale.jobs.processed").unwrap().is_some());
        assert!(engine.metric("telltale.mine").unwrap().is_some());
        write(&engine, "telltale.jobs.failed", MetricType::Counter);
        assert_eq!(engine.metric("telltale.jobs.failed").unwrap().map(|m| m.data_points), Some(1));
    }
}
