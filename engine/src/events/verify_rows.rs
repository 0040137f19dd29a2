//! Checking what is on disk of events besides the blocks that the catalog names.

use super::block::{EventBlockInfo, EventBlockKey};
use super::keys::{self, Entry};
use crate::codec::CodecResult;
use crate::error::Result;
use crate::reports::VerifyReport;
use crate::storage::{Caching, KeyRange, Keyspace, Store};

/// Reads every row of the catalog and checks it, and reports blocks that it does not name. The store may be written to meanwhile.
pub(crate) fn verify_rows(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let VerifyReport { bytes, damaged, .. } = report;
    let visit = |key: Box<[u8]>, row: Box<[u8]>| {
        *bytes += row.len() as u64;
        if let Err(error) = check_row(&key, &row) {
            damaged.push(format!("row {key:02x?} of the catalog of events: {error}"));
        }
    };
    let all = KeyRange::all();
    let gap = store.read_around_damage(Keyspace::EventCatalog, &all, Caching::Bypass, visit)?;
    report.damaged.extend(gap.map(|gap| format!("catalog of events: {}", gap.error)));
    check_listed(store, report)
}

fn check_row(key: &[u8], row: &[u8]) -> CodecResult<()> {
    match keys::read(key)? {
        Entry::Block(block) => EventBlockInfo::from_catalog_entry(&block.encode(), row).map(drop),
        Entry::Garbage(_) | Entry::Quarantine(_) => Ok(()),
    }
}

fn check_listed(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let mut found = Vec::new();
    let visit = |key: Box<[u8]>, _| found.push(key);
    // What cannot be read there is damage of blocks, which are read one by one.
    let all = KeyRange::all();
    store.read_around_damage(Keyspace::EventBlocks, &all, Caching::Bypass, visit)?;
    for stored in found {
        let key = match EventBlockKey::decode(&stored) {
            Ok(key) => key,
            Err(error) => {
                report.damaged.push(format!("block of events {stored:02x?}: {error}"));
                continue;
            }
        };
        let names = [keys::block(&key), keys::garbage(&key)];
        let named = names
            .iter()
            .any(|name| store.get(Keyspace::EventCatalog, name).is_ok_and(|row| row.is_some()));
        // A block and its entries come and go in one batch each: one that is still there without them has lost them.
        if !named && store.get(Keyspace::EventBlocks, &stored)?.is_some() {
            report.damaged.push(format!("block of events {key:?} is not in the catalog"));
        }
    }
    Ok(())
}
