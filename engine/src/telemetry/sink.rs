//! The sink of the write-ahead log: applies durable records to the registry and the heads, and
//! admits writes.

use std::sync::Arc;
use std::time::Duration;

use super::Telemetry;
use crate::ballast::Ballast;
use crate::documents::Receipt;
use crate::error::{Error, Refusal, Result};
use crate::log::{Admission, Applied, Definitions, Sink};
use crate::model::Lsn;
use crate::telemetry::{MaintenanceState, Part};

/// How long a write waits for a seal to free memory before it is refused as overloaded.
const SEAL_WAIT: Duration = Duration::from_secs(10);

/// The [`Sink`] that applies durable records.
pub(crate) struct HeadSink {
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) maintenance_state: Arc<MaintenanceState>,
    /// Measures the free disk space, some of which must be kept free.
    pub(crate) ballast: Ballast,
}

impl Sink for HeadSink {
    fn claim(&mut self, receipt: &Receipt) -> Result<()> {
        match self.telemetry.receipt_in_force(receipt)? {
            None => Ok(()),
            Some(_) => Err(Refusal::Conflict.into()),
        }
    }

    fn is_full(&self) -> bool {
        self.telemetry.is_full()
    }

    fn unlogged_bytes(&self) -> usize {
        self.telemetry.metrics.registry().unlogged_bytes()
    }

    fn admit(&mut self) -> Result<Admission> {
        self.ballast.check_space(0)?;
        if !self.telemetry.is_full() {
            return Ok(Admission::Go);
        }
        // The other half of the memory becomes available once the frozen state is sealed.
        let outcome =
            self.maintenance_state.wait_for_space(SEAL_WAIT, || !self.telemetry.is_frozen());
        outcome.map_err(|reason| match reason {
            Some(failure) => Error::Unavailable(failure),
            None => Error::Overloaded(
                "memory for new data is full until the next seal completes".into(),
            ),
        })?;
        self.maintenance_state.request_seal();
        Ok(Admission::AfterRotation)
    }

    fn rotated(&mut self, boundary: Lsn) {
        // Called between two records, so nothing is applied while the heads are frozen.
        self.telemetry.freeze(boundary);
    }

    fn take_definitions(&mut self) -> Definitions {
        self.telemetry.metrics.registry().take_unlogged()
    }

    fn logged(&mut self, definitions: &Definitions) {
        if !definitions.is_empty() {
            self.telemetry.metrics.defined(definitions);
        }
    }

    fn not_logged(&mut self, definitions: Definitions) {
        self.telemetry.metrics.registry().put_back_unlogged(definitions);
    }

    fn apply(&mut self, applied: Applied) {
        self.telemetry.apply(applied);
        self.maintenance_state.set_read_only(None);
        if self.telemetry.is_full() {
            self.maintenance_state.request_seal();
        }
    }

    fn failed(&mut self, error: &Error) {
        if matches!(error, Error::Unavailable(_) | Error::Io { .. }) {
            self.maintenance_state.set_read_only(Some(error.to_string()));
        }
    }

    fn durability_in_doubt(&mut self) {
        // The heads still contain those records: a seal writes them to the database with a sync.
        self.maintenance_state.request_seal();
    }

    fn died(&mut self, reason: &str) {
        self.maintenance_state.fail(Part::Log, reason.to_owned());
    }
}
