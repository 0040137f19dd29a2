//! Walking every checksum: blocks, log, documents.

use crate::documents::Documents;
use crate::error::{Error, Result};
use crate::log::{Record, Segments, scan_below};
use crate::records::Records;
use crate::telemetry::Telemetry;

/// What was looked at, and what is damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blocks read.
    pub blocks: u64,
    /// Records of the log read.
    pub log_records: u64,
    /// Documents and receipts read.
    pub documents: u64,
    /// Records of tables read.
    pub records: u64,
    /// Bytes read.
    pub bytes: u64,
    /// One line each: what is damaged and where.
    pub damaged: Vec<String>,
}

/// Reads and checks everything that is on disk.
pub(crate) fn verify(
    telemetry: &Telemetry,
    documents: &Documents,
    records: &Records,
    segments: &Segments,
) -> Result<VerifyReport> {
    let mut report = VerifyReport::default();
    telemetry.metrics.verify_blocks(&mut report)?;
    telemetry.metrics.verify_readings(&mut report)?;
    telemetry.events.verify_blocks(&mut report)?;
    for (span, path) in segments.bounded()? {
        let scanned = scan_below(&path, span.end, |lsn, payload| {
            report.bytes += payload.len() as u64;
            if let Err(error) = Record::decode(payload) {
                report.damaged.push(format!("log record {lsn:?}: {error}"));
            }
            Ok(())
        });
        match scanned {
            Ok(scanned) => {
                report.log_records += scanned.records;
                report.damaged.extend(scanned.damage.iter().map(ToString::to_string));
            }
            // A seal has deleted it meanwhile.
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
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
