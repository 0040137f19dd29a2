//! Verification of everything on disk besides the blocks in the catalog: the rows of the registry
//! and the catalog, the garbage and quarantine lists, and blocks that are in neither the catalog
//! nor the garbage list.

use crate::codec::CodecResult;
use crate::error::Result;
use crate::metrics::block::{BlockInfo, BlockKey};
use crate::metrics::registry;
use crate::reports::VerifyReport;
use crate::storage::{Caching, RangeOf, Schema, Store, keyspaces};

/// Reads and checks every row. The store may be written to meanwhile.
pub(crate) fn verify_rows(store: &Store, report: &mut VerifyReport) -> Result<()> {
    check_rows(store, keyspaces::Registry, report, registry::check_row)?;
    check_rows(store, keyspaces::Catalog, report, |key, row| {
        BlockInfo::from_catalog_entry(key, row).map(drop)
    })?;
    check_rows(store, keyspaces::Garbage, report, |key, _| BlockKey::decode(key).map(drop))?;
    check_rows(store, keyspaces::Quarantine, report, |key, _| BlockKey::decode(key).map(drop))?;
    check_listed(store, report)
}

fn check_rows(
    store: &Store,
    keyspace: impl Schema,
    report: &mut VerifyReport,
    check: impl Fn(&[u8], &[u8]) -> CodecResult<()>,
) -> Result<()> {
    let name = keyspace.keyspace().name();
    let VerifyReport { bytes, damaged, .. } = report;
    let visit = |key: Box<[u8]>, row: Box<[u8]>| {
        *bytes += row.len() as u64;
        if let Err(error) = check(&key, &row) {
            damaged.push(format!("row {key:02x?} of {name}: {error}"));
        }
    };
    let gap = store.read_skipping_damage(RangeOf::all(keyspace), Caching::Bypass, visit)?;
    report.damaged.extend(gap.map(|gap| format!("{name}: {}", gap.error)));
    Ok(())
}

/// Reports blocks that are in neither the catalog nor the garbage list: their entry was lost.
fn check_listed(store: &Store, report: &mut VerifyReport) -> Result<()> {
    let mut keys = Vec::new();
    let visit = |key: Box<[u8]>, _| keys.push(key);
    // Unreadable ranges are damage to blocks, which are checked one by one elsewhere.
    store.read_skipping_damage(RangeOf::all(keyspaces::Blocks), Caching::Bypass, visit)?;
    for stored in keys {
        let key = match BlockKey::decode(&stored) {
            Ok(key) => key,
            Err(error) => {
                report.damaged.push(format!("block {stored:02x?}: {error}"));
                continue;
            }
        };
        let named = store.get(keyspaces::Catalog, &key).is_ok_and(|row| row.is_some())
            || store.get(keyspaces::Garbage, &key).is_ok_and(|row| row.is_some());
        // A block is written and deleted in one batch with its entry, so a block that still exists
        // without one has lost it.
        if !named && store.get(keyspaces::Blocks, &key)?.is_some() {
            report.damaged.push(format!("block {key:?} is not in the catalog"));
        }
    }
    Ok(())
}
