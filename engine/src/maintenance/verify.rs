//! Verification of all checksums: blocks, log, documents, records.

use crate::documents::Documents;
use crate::error::Result;
use crate::log::{Record, Segments, read_log};
use crate::model::Lsn;
use crate::records::Records;
use crate::reports::VerifyReport;
use crate::storage::{Caching, RangeOf, Store, keyspaces};
use crate::telemetry::{self, Telemetry};
use crate::trusted_time::TrustedClock;
use crate::{events, metrics};

/// Reads and checks everything on disk. Writes may continue meanwhile.
pub(crate) fn verify(
    telemetry: &Telemetry,
    documents: &Documents,
    records: &Records,
    segments: &Segments,
) -> Result<VerifyReport> {
    let mut report = VerifyReport::default();
    let store = telemetry.store();
    verify_meta(store, &mut report)?;
    telemetry.metrics.verify_blocks(&mut report)?;
    telemetry.metrics.verify_last_values(&mut report)?;
    metrics::verify_rows(store, &mut report)?;
    telemetry.events.verify_blocks(&mut report)?;
    events::verify_rows(store, &mut report)?;
    verify_log(segments, || telemetry::sealed(store), &mut report)?;
    let verified = documents.verify()?;
    report.documents = verified.documents + verified.receipts;
    report.bytes += verified.bytes;
    report.damaged.extend(verified.damaged);
    let verified = records.verify()?;
    report.records = verified.records;
    report.bytes += verified.bytes;
    report.damaged.extend(verified.damaged);
    Ok(report)
}

/// Reads and checks the entries about the database as a whole.
fn verify_meta(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let VerifyReport { bytes, damaged, .. } = report;
    let visit = |key: Box<[u8]>, value: Box<[u8]>| {
        *bytes += value.len() as u64;
        let name = String::from_utf8_lossy(&key);
        match TrustedClock::check_stored(&key, &value) {
            Ok(true) => {}
            Ok(false) if matches!(value.len(), 4 | 8) => {}
            Ok(false) => damaged.push(format!("meta: {name:?} is {} bytes long", value.len())),
            Err(error) => damaged.push(format!("meta: {name:?}: {error}")),
        }
    };
    let all = RangeOf::all(keyspaces::Meta);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    report.damaged.extend(gap.map(|gap| format!("meta: {}", gap.error)));
    Ok(())
}

/// Reads and decodes every record of the log.
pub(super) fn verify_log(
    segments: &Segments,
    sealed: impl FnOnce() -> Result<Lsn>,
    report: &mut VerifyReport,
) -> Result<()> {
    // Listed before the watermark is read, so that segments deleted by a concurrent seal are not
    // reported as missing.
    let listed = segments.look()?;
    let VerifyReport { bytes, damaged, .. } = report;
    let read = read_log(&listed, sealed()?, |lsn, payload| {
        *bytes += payload.len() as u64;
        if let Err(error) = Record::decode(payload) {
            damaged.push(format!("log record {lsn:?}: {error}"));
        }
        Ok(())
    })?;
    report.log_records += read.records;
    report.damaged.extend(read.damaged);
    Ok(())
}
