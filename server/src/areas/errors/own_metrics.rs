//! The server's own metric of error groups.

use telltale_engine::{Engine, MetricType, Result, TimestampMs};

use super::ledger::Ledger;

/// Groups that an occurrence reopened.
const REGRESSIONS: &str = "telltale.errors.regressions";

/// The metrics that are written, with their types.
pub const ERROR_METRICS: &[(&str, MetricType)] = &[(REGRESSIONS, MetricType::Counter)];

/// Writes the increases of the counters.
#[derive(Debug, Default)]
pub(super) struct ErrorCounters {
    regressions: u64,
}

impl ErrorCounters {
    /// Begins to count now: what was counted again at the start is not new.
    pub(super) fn since(ledger: &Ledger) -> Self {
        Self { regressions: ledger.regressions() }
    }

    /// Writes what is new since the last write. Blocks.
    pub(super) fn write(
        &mut self,
        engine: &Engine,
        ledger: &Ledger,
        now: TimestampMs,
    ) -> Result<()> {
        let regressions = ledger.regressions();
        let mut batch = engine.own_batch();
        let series = batch.series(REGRESSIONS, MetricType::Counter, &[])?;
        let increase = regressions.saturating_sub(self.regressions);
        batch.number(MetricType::Counter, series, now, increase as f64);
        engine.write(batch.finish())?;
        self.regressions = regressions;
        Ok(())
    }
}
