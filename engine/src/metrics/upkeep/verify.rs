//! Checking every block, and what readings are compared with.

use super::super::Metrics;
use super::super::{block, readings};
use crate::error::{Error, Result};
use crate::maintenance::VerifyReport;

impl Metrics {
    /// Reads the last readings on disk and checks them.
    pub(crate) fn verify_readings(&self, report: &mut VerifyReport) -> Result<()> {
        readings::check_rows(&self.store, report)
    }

    /// Reads every block of the catalog and checks it. Damaged ones are set aside.
    pub(crate) fn verify_blocks(&self, report: &mut VerifyReport) -> Result<()> {
        let catalog = self.view.catalog();
        for info in catalog.metrics().flat_map(|(_, blocks)| blocks.iter()) {
            let checked = self.read_block(&info.key).and_then(|bytes| {
                report.bytes += bytes.len() as u64;
                block::check(info, &bytes).map_err(Error::from)
            });
            report.blocks += 1;
            match checked {
                Ok(()) => {}
                Err(Error::Corrupt(reason)) => {
                    self.quarantine(&info.key, &reason);
                    report.damaged.push(format!("block {:?}: {reason}", info.key));
                }
                Err(error) => return Err(error),
            }
        }
        self.times.verify(|key, bytes, damage| {
            report.bytes += bytes as u64;
            report.damaged.extend(damage.map(|reason| format!("times {key:02x?}: {reason}")));
        })
    }
}
