//! Verifies the event catalog, and that it lists every stored block.

use super::block::{EventBlockInfo, EventBlockKey};
use super::keys::{self, CatalogEntry};
use crate::codec::CodecResult;
use crate::error::{Error, Result};
use crate::reports::VerifyReport;
use crate::storage::{Caching, RangeOf, Store, keyspaces};

/// Reads and checks every entry of the catalog, and reports stored blocks that it does not list.
/// The store may be written to meanwhile.
pub(crate) fn verify_rows(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let VerifyReport { bytes, damaged, .. } = report;
    let visit = |key: Box<[u8]>, row: Box<[u8]>| {
        *bytes += row.len() as u64;
        if let Err(error) = check_row(&key, &row) {
            damaged.push(format!("event catalog row {key:02x?}: {error}"));
        }
    };
    let all = RangeOf::all(keyspaces::EventCatalog);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    report.damaged.extend(gap.map(|gap| format!("event catalog: {}", gap.error)));
    check_listed(store, report)
}

fn check_row(key: &[u8], row: &[u8]) -> CodecResult<()> {
    match keys::read(key)? {
        CatalogEntry::Block(block) => {
            EventBlockInfo::from_catalog_entry(&block.encode(), row).map(drop)
        }
        CatalogEntry::Garbage(_) | CatalogEntry::Quarantine(_) => Ok(()),
    }
}

/// Reports stored blocks that the catalog does not list.
fn check_listed(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let mut found = Vec::new();
    let visit = |key: Box<[u8]>, _| found.push(key);
    // Unreadable rows here are damaged blocks, which `verify_blocks` reads one by one.
    let all = RangeOf::all(keyspaces::EventBlocks);
    store.read_skipping_damage(all, Caching::Bypass, visit)?;
    for stored in found {
        let key = match EventBlockKey::decode(&stored) {
            Ok(key) => key,
            Err(error) => {
                report.damaged.push(format!("event block {stored:02x?}: {error}"));
                continue;
            }
        };
        let mut named = false;
        for name in [CatalogEntry::Block(key), CatalogEntry::Garbage(key)] {
            named |= match store.get(keyspaces::EventCatalog, &name) {
                Ok(row) => row.is_some(),
                // Reported above, as damage to the catalog.
                Err(Error::Corrupt(_)) => false,
                Err(error) => return Err(error),
            };
        }
        // A block and its entries are written and deleted in one batch each: a block without an
        // entry has lost it.
        if !named && store.get(keyspaces::EventBlocks, &key)?.is_some() {
            report.damaged.push(format!("event block {key:?} is not in the catalog"));
        }
    }
    Ok(())
}
