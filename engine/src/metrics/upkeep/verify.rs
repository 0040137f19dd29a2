//! Verification of all blocks and last cumulative values, and release of blocks from quarantine.

use super::super::Metrics;
use super::super::{block, cumulative};
use crate::error::{Error, Result};
use crate::reports::VerifyReport;

impl Metrics {
    /// Reads and checks the last cumulative values on disk.
    pub(crate) fn verify_last_values(&self, report: &mut VerifyReport) -> Result<()> {
        cumulative::check_rows(&self.store, report)
    }

    /// Reads and decodes every block and compares it with its catalog entry. Corrupt blocks are
    /// quarantined.
    pub(crate) fn verify_blocks(&self, report: &mut VerifyReport) -> Result<()> {
        let catalog = self.view.catalog();
        for info in catalog.metrics().flat_map(|(_, blocks)| blocks.iter()) {
            let checked = self.read_block(&info.key).and_then(|bytes| {
                report.bytes += bytes.len() as u64;
                block::verify(info, &bytes, |page_group, page| self.times.find(page_group, page))
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
            report.damaged.extend(damage.map(|reason| format!("time page {key:02x?}: {reason}")));
        })
    }

    /// Releases blocks from quarantine that can be read after all, for example because an earlier
    /// decoder rejected what its encoder wrote.
    pub(in crate::metrics) fn release_readable_blocks(&self) -> Result<()> {
        let catalog = self.view.catalog();
        for info in catalog.metrics().flat_map(|(_, blocks)| blocks.iter()) {
            if !self.is_quarantined(&info.key) {
                continue;
            }
            let read = self.read_block(&info.key).and_then(|bytes| {
                block::verify(info, &bytes, |page_group, page| self.times.find(page_group, page))
            });
            match read {
                Ok(()) => self.release(&info.key)?,
                Err(Error::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
