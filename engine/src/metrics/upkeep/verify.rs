//! Checking every block, and settling the files of the database.

use super::super::Metrics;
use super::super::block;
use crate::error::{Error, Result};
use crate::maintenance::VerifyReport;
use crate::storage::{KeyRange, Keyspace};

impl Metrics {
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
        Ok(())
    }

    /// Writes memtables out and rewrites tables without what was deleted.
    pub(crate) fn settle_disk(&self) -> Result<()> {
        self.store.flush()?;
        Keyspace::ALL.into_iter().try_for_each(|k| self.store.compact(k, &KeyRange::all()))
    }
}
