//! Removes damaged tables from a closed database: the readable entries in their key ranges are
//! rewritten in a new table, and the files move to a directory beside the database.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use rocksdb::{DB, DBRawIterator, FlushOptions, LiveFile, ReadOptions, WriteBatch, WriteOptions};

use super::batch::copy_key;
use super::fact::Fact;
use super::findings::{Findings, repaired_table};
use super::guard::{Guards, Health};
use super::keyspace::Keyspace;
use super::manifest::{self, ListedTable};
use super::open;
use super::rocksdb_error::{failure, io_failure};
use super::store::family;
use super::tuning::Shared;
use crate::damage::Finding;
use crate::error::Result;

/// Maximum bytes of readable entries in the range of a damaged table. Above it they are not
/// rewritten.
const SALVAGE_BYTES_MAX: usize = 256 << 20;

/// Removes `tables` from the closed database in `dir`: the readable entries in their ranges are
/// rewritten, and the files move to `aside`.
pub(super) fn remove_tables(
    (dir, guards): (&Path, &Guards),
    shared: &Shared,
    findings: &Findings,
    tables: &BTreeSet<u64>,
    aside: &Path,
) -> Result<()> {
    // Another table may have made the open fail: one that its guard can repair stays.
    let tables: BTreeSet<u64> = (tables.iter().copied())
        .filter(|number| match guards.repair(*number) {
            Ok(Health::Repairable(sectors)) => {
                findings.report(repaired_table(*number, sectors));
                false
            }
            _ => true,
        })
        .collect();
    if tables.is_empty() {
        return Ok(());
    }
    let db = open::salvage(dir, shared, findings)?;
    let files = db.live_files().map_err(|error| failure("tables", error))?;
    let mut listed = Vec::new();
    for file in files {
        let number = number_of(&file);
        if !tables.contains(&number) {
            continue;
        }
        let saved = save_range(&db, &file)?;
        findings.report(Finding::Lost(describe(&file, number, saved, aside)));
        if let Some(keyspace) = keyspace_of(&file) {
            note_loss(&db, keyspace)?;
        }
        let Ok(level) = u64::try_from(file.level) else {
            unreachable!("RocksDB numbers its levels from 0, not {}", file.level)
        };
        listed.push(ListedTable { number, level, family: file.column_family_name });
    }
    drop(db);
    for table in listed {
        let name = format!("{:06}.sst", table.number);
        manifest::remove_table(dir, &table)
            .map_err(|error| io_failure("removing a table", error))?;
        match fs::rename(dir.join(&name), aside.join(&name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_failure("moving a damaged table", error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Rewrites the readable entries in the range of a table, so that they remain when the table is
/// removed. Returns how many entries these are, or `None` when they exceed [`SALVAGE_BYTES_MAX`].
fn save_range(db: &DB, file: &LiveFile) -> Result<Option<usize>> {
    let (Some(first), Some(keyspace)) = (&file.start_key, keyspace_of(file)) else {
        return Ok(None);
    };
    let (Some(last), Some(mut raw)) = (&file.end_key, rows_of(db, file)) else { return Ok(None) };
    let mut end = last.clone();
    end.push(0);
    let family = family(db, keyspace);
    let mut batch = WriteBatch::default();
    let (mut saved, mut bytes) = (0, 0);
    // From the start to the damage, then from the end back to it: the entries between are lost.
    raw.seek_to_first();
    let mut head: Option<Vec<u8>> = None;
    let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    while let Some((key, value)) = raw.item() {
        bytes += key.len() + value.len();
        head = Some(key.to_vec());
        rows.push((key.to_vec(), value.to_vec()));
        if bytes > SALVAGE_BYTES_MAX {
            return Ok(None);
        }
        raw.next();
    }
    if let Some(head) = &head {
        let mut to = head.clone();
        to.push(0);
        batch.delete_range_cf(family, first, &to);
    }
    if raw.status().is_err() {
        let mut tail: Option<Vec<u8>> = None;
        raw.seek_to_last();
        while let Some((key, value)) = raw.item() {
            if head.as_deref().is_some_and(|head| key <= head) {
                break;
            }
            bytes += key.len() + value.len();
            tail = Some(key.to_vec());
            rows.push((key.to_vec(), value.to_vec()));
            if bytes > SALVAGE_BYTES_MAX {
                return Ok(None);
            }
            raw.prev();
        }
        if let Some(tail) = tail {
            batch.delete_range_cf(family, &tail, &end);
        }
    }
    for (key, value) in rows {
        batch.put_cf(family, key, value);
        saved += 1;
    }
    drop(raw);
    let mut options = WriteOptions::default();
    options.set_sync(true);
    db.write_opt(batch, &options).map_err(|error| failure("saving rows", error))?;
    let mut options = FlushOptions::new();
    options.set_wait(true);
    db.flush_cf_opt(family, &options).map_err(|error| failure("saving rows", error))?;
    Ok(Some(saved))
}

/// Returns an iterator over the entries in the range of a table, bypassing the cache.
pub(super) fn rows_of<'d>(db: &'d DB, file: &LiveFile) -> Option<DBRawIterator<'d>> {
    let (first, mut end) = (file.start_key.as_ref()?, file.end_key.clone()?);
    end.push(0);
    let mut options = ReadOptions::default();
    options.fill_cache(false);
    options.set_iterate_lower_bound(first.as_slice());
    options.set_iterate_upper_bound(end);
    Some(db.raw_iterator_cf_opt(family(db, keyspace_of(file)?), options))
}

/// Records durably that a keyspace lost entries, so that the next start searches for what they
/// referred to.
pub(super) fn note_loss(db: &DB, keyspace: Keyspace) -> Result<()> {
    const VALUE: [u8; 8] = [1; 8];
    let key = Fact::Lost(keyspace).name();
    let mut batch = WriteBatch::default();
    batch.put_cf(family(db, Keyspace::Meta), &key, VALUE);
    if let Some(prefix) = Keyspace::Meta.copied_as() {
        batch.put_cf(family(db, Keyspace::Copies), copy_key(prefix, &key), VALUE);
    }
    let mut options = WriteOptions::default();
    options.set_sync(true);
    db.write_opt(batch, &options).map_err(|error| failure("recording a loss", error))
}

fn describe(file: &LiveFile, number: u64, saved: Option<usize>, aside: &Path) -> String {
    let key = |key: &Option<Vec<u8>>| key.as_deref().map_or_else(String::new, hex);
    let kept = saved.map_or_else(
        || "no entries were saved".to_owned(),
        |saved| format!("{saved} entries of its range were saved"),
    );
    format!(
        "{}: table {number:06}.sst of {} entries is damaged; its keys lie in {}..={}; {kept}; older values may have reappeared \
         between the saved entries; the table was moved to {}",
        file.column_family_name,
        file.num_entries,
        key(&file.start_key),
        key(&file.end_key),
        aside.display(),
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the keyspace of a table, or `None` for the default one, which is always empty.
pub(super) fn keyspace_of(file: &LiveFile) -> Option<Keyspace> {
    Keyspace::ALL.into_iter().find(|keyspace| keyspace.name() == file.column_family_name)
}

/// Returns the number of a table.
///
/// # Panics
/// Panics if the file is not named like a table: it would stay without a guard, unnoticed.
pub(super) fn number_of(file: &LiveFile) -> u64 {
    let number = file.name.trim_start_matches('/').strip_suffix(".sst");
    let Some(number) = number.and_then(|number| number.parse().ok()) else {
        unreachable!("RocksDB names its tables by number, not {:?}", file.name)
    };
    number
}
