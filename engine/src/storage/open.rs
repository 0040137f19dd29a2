//! Opens the database, whatever the state of its files.
//!
//! Each step is only tried when the steps before it did not suffice, and everything that is given
//! up is reported:
//!
//! 1. `CURRENT` is repaired if it does not name an existing manifest. A damaged manifest is
//!    restored from its copy, or loses a torn end that was never in force. Tables with damaged ends
//!    are repaired. Damaged logs are rewritten without their damaged parts (`journal`).
//! 2. An ordinary open.
//! 3. Damaged tables and the manifest are repaired from their guards (`guard/`).
//! 4. Tables that prevent the open are removed, and what can be read of them is rewritten
//!    (`table_removal.rs`).
//! 5. Log records that RocksDB does not accept are skipped.
//! 6. RocksDB builds a new manifest from the tables it finds.
//!
//! Before anything is given up, manifest and logs are copied to a directory beside the database,
//! `db.damaged-<n>`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME};

use super::database::Database;
use super::findings::{Findings, LogReadMode, repaired_table};
use super::guard::{Guards, Health, current_manifest, manifest_number, manifests, paths_in};
use super::journal::Journal;
use super::keyspace::Keyspace;
use super::manifest;
use super::rocksdb_error::{failure, io_failure};
use super::table_removal;
use super::tuning::{self, Shared, Strictness};
use crate::damage::Finding;
use crate::error::{Error, Result};

/// Marker file that exists while RocksDB builds a new manifest.
const REPAIRING: &str = "REPAIRING";
/// What replaces the options file, until it is renamed.
const OPTIONS_HOLE: &str = "OPTIONS.hole";
const MANIFEST_REPAIRED: &str =
    "the database's manifest was damaged and has been repaired from its copy";
/// Maximum tables that one open removes before it leaves the rest to RocksDB's repair.
const TABLES_TAKEN_OUT_MAX: usize = 64;

/// Opens the database in `dir`, which is created if it does not exist.
pub(super) fn open(
    dir: &Path,
    shared: &Shared,
    guards: &Guards,
    journal: &Journal,
    findings: &Findings,
) -> Result<Database> {
    let db = open_damaged(dir, shared, guards, journal, findings)?;
    journal.opened(&db, findings);
    // Each open creates a new manifest: until it is copied, damage to it cannot be repaired.
    match guards.copy_manifest(|| db.background_error().is_none()) {
        Ok(outcome) => findings.note_manifest(outcome),
        Err(error) => {
            tracing::warn!(%error, "the manifest of the database was not copied; the next check tries again");
        }
    }
    Ok(db)
}

fn open_damaged(
    dir: &Path,
    shared: &Shared,
    guards: &Guards,
    journal: &Journal,
    findings: &Findings,
) -> Result<Database> {
    if dir.join(REPAIRING).exists() {
        // The manifest of an interrupted repair may lack tables, and RocksDB
        // would delete those.
        rebuild_manifest(dir, shared, journal, findings)?;
    }
    repair_current_file(dir, guards, findings)
        .and_then(|()| repair_manifest(dir, guards, journal, findings))
        .and_then(|()| repair_table_ends(guards, findings))
        .map_err(|error| opening(dir, error))?;
    let repair_log =
        || journal.repair(findings, || set_aside(dir)).map_err(|error| opening(dir, error));
    let log_was_read = repair_log()?;
    let why = match try_open(dir, shared, Strictness::Strict, findings) {
        Err(Error::Corrupt(why)) => why,
        outcome => return outcome,
    };
    if repair_suspects(guards, findings).map_err(|error| opening(dir, error))? {
        if !log_was_read {
            repair_log()?;
        }
        let outcome = try_open(dir, shared, Strictness::Strict, findings);
        let Err(Error::Corrupt(_)) = outcome else { return outcome };
    }
    let aside = set_aside(dir).map_err(|error| opening(dir, error))?;
    for _ in 0..TABLES_TAKEN_OUT_MAX {
        let suspects = findings.take_suspects();
        if suspects.is_empty() {
            break;
        }
        // If this fails too, the steps below remain.
        let of = (dir, guards);
        let removed = table_removal::remove_tables(of, shared, findings, &suspects, &aside);
        if let Err(error) = removed {
            tracing::error!(%error, "damaged tables cannot be removed");
            break;
        }
        let outcome = try_open(dir, shared, Strictness::Strict, findings);
        let Err(Error::Corrupt(_)) = outcome else { return outcome };
    }
    match salvage(dir, shared, findings) {
        Ok(salvaged) => {
            drop(salvaged);
            findings.report(Finding::Lost(format!(
                "a part of the database, which could only be opened without it: {why}"
            )));
            let outcome = try_open(dir, shared, Strictness::Strict, findings);
            let Err(Error::Corrupt(_)) = outcome else { return outcome };
        }
        Err(error) => {
            tracing::error!(%error, "the database cannot be opened without its damaged parts");
        }
    }
    rebuild_manifest(dir, shared, journal, findings)?;
    let db = try_open(dir, shared, Strictness::Strict, findings)?;
    let lost = paths_in(&dir.join("lost")).map_err(|error| opening(dir, error))?;
    if !lost.is_empty() {
        // The contents of unreadable tables are unknown; the lists of blocks are rebuilt from the
        // blocks.
        table_removal::note_loss(&db, Keyspace::Catalog)?;
        table_removal::note_loss(&db, Keyspace::EventCatalog)?;
        table_removal::note_loss(&db, Keyspace::Registry)?;
    }
    Ok(db)
}

/// Opens the database skipping damage, including damaged log records. The log entries that it saves
/// are in tables when it returns.
pub(super) fn salvage(dir: &Path, shared: &Shared, findings: &Findings) -> Result<Database> {
    findings.set_log_read_mode(LogReadMode::Salvage);
    let opened = try_open(dir, shared, Strictness::Salvage, findings);
    findings.set_log_read_mode(LogReadMode::Normal);
    opened
}

pub(super) fn try_open(
    dir: &Path,
    shared: &Shared,
    strictness: Strictness,
    findings: &Findings,
) -> Result<Database> {
    let failed = |error: rocksdb::Error| {
        findings.note_message(error.as_ref());
        open_failure(dir, error)
    };
    let options = tuning::database(shared, strictness).map_err(failed)?;
    refuse_unknown_keyspaces(dir, &options)?;
    let families = Keyspace::ALL.map(|k| (k.name(), tuning::keyspace(k, shared, strictness)));
    let unused = (DEFAULT_COLUMN_FAMILY_NAME, tuning::unused(shared, strictness));
    let families = families.into_iter().chain([unused]);
    let db = DB::open_cf_with_opts(&options, dir, families).map_err(failed)?;
    thin_out_options(dir);
    Ok(Database::new(db))
}

/// Removes all of RocksDB's options files except the newest, and replaces that by a hole of the
/// same length, which takes no space. They are never read, but RocksDB copies the newest with its
/// tables; the two that it keeps would be a tenth of a small database.
fn thin_out_options(dir: &Path) {
    let number = |path: &PathBuf| -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix("OPTIONS-")?.parse().ok()
    };
    // What fails here is tried again at the next open.
    let Ok(mut all) = paths_in(dir) else { return };
    all.retain(|path| number(path).is_some());
    let Some(newest) = all.iter().max_by_key(|path| number(path)).cloned() else { return };
    for old in all.iter().filter(|path| **path != newest) {
        let _removed = fs::remove_file(old);
    }
    let _replaced = replace_by_hole(&newest, &dir.join(OPTIONS_HOLE));
}

fn replace_by_hole(path: &Path, hole: &Path) -> io::Result<()> {
    fs::File::create(hole)?.set_len(fs::metadata(path)?.len())?;
    fs::rename(hole, path)
}

/// Makes `CURRENT` name the newest manifest if it is damaged or missing. Without that line the
/// manifest is not found, and a new database would be created over the old one.
fn repair_current_file(dir: &Path, guards: &Guards, findings: &Findings) -> io::Result<()> {
    if current_manifest(dir).is_some() || !has_tables_or_logs(dir)? {
        return Ok(());
    }
    let repaired = guards.repair_manifest()?;
    let newest = manifests(dir)?.into_iter().max_by_key(|path| manifest_number(path));
    let Some(newest) = newest else {
        // Step 6 builds one; until then any content keeps RocksDB from creating a new database.
        return fs::write(dir.join("CURRENT"), "MANIFEST-000000\n");
    };
    let Some(name) = newest.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        unreachable!("the path of a manifest ends in the name that it was found by")
    };
    let new = dir.join("CURRENT.dbtmp");
    fs::write(&new, format!("{name}\n"))?;
    fs::File::open(&new)?.sync_all()?;
    fs::rename(&new, dir.join("CURRENT"))?;
    let also = if repaired { ", which was repaired from its copy" } else { "" };
    findings.report(Finding::Mended(format!(
        "the database's file CURRENT was damaged; it names {name} again{also}"
    )));
    Ok(())
}

/// Repairs a damaged manifest from its copy, and cuts an end that was torn by a power loss.
fn repair_manifest(
    dir: &Path,
    guards: &Guards,
    journal: &Journal,
    findings: &Findings,
) -> io::Result<()> {
    if !manifest::is_doubtful(dir)? {
        return Ok(());
    }
    if guards.repair_manifest()? {
        findings.report(Finding::Mended(MANIFEST_REPAIRED.to_owned()));
    }
    if manifest::cut_torn_end(dir, guards.copied_bytes(), journal)? {
        tracing::warn!(
            "dropping torn edits at the end of the database's manifest that were never in force"
        );
    }
    Ok(())
}

fn has_tables_or_logs(dir: &Path) -> io::Result<bool> {
    let is_part = |path: &PathBuf| {
        manifest_number(path).is_some()
            || path.extension().is_some_and(|e| e == "sst" || e == "log")
    };
    Ok(paths_in(dir)?.iter().any(is_part))
}

/// Repairs tables with damaged ends: an open may succeed with them, but reads would lack rows.
fn repair_table_ends(guards: &Guards, findings: &Findings) -> io::Result<()> {
    for number in guards.guarded()? {
        match guards.has_whole_end(number) {
            Ok(true) => continue,
            Ok(false) => {}
            // The guard of a deleted table, or a torn guard, proves nothing.
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) {
                    tracing::warn!(%error, number, "the end of a table cannot be checked");
                }
                continue;
            }
        }
        match guards.repair(number) {
            Ok(Health::Repairable(sectors)) => findings.report(repaired_table(number, sectors)),
            Ok(_) => {}
            Err(error) => tracing::error!(%error, number, "a damaged table cannot be repaired"),
        }
    }
    Ok(())
}

/// Repairs the manifest and the tables that RocksDB complained about, or all tables if it named
/// none. Returns whether anything changed.
fn repair_suspects(guards: &Guards, findings: &Findings) -> io::Result<bool> {
    let mut changed = guards.repair_manifest()?;
    if changed {
        findings.report(Finding::Mended(MANIFEST_REPAIRED.to_owned()));
    }
    let mut suspects = findings.take_suspects();
    if suspects.is_empty() && !changed {
        suspects = guards.guarded()?;
    }
    for number in suspects {
        match guards.repair(number) {
            Ok(Health::Repairable(sectors)) => {
                findings.report(repaired_table(number, sectors));
                changed = true;
            }
            Ok(_) => {}
            // The guard of a deleted table.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(changed)
}

/// Copies the files that the next steps may change to a new directory beside the database.
pub(super) fn set_aside(dir: &Path) -> io::Result<PathBuf> {
    let Some(name) = dir.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Err(io::Error::other("the path of the database has no last part"));
    };
    let aside = (1_u32..)
        .map(|n| dir.with_file_name(format!("{name}.damaged-{n}")))
        .find(|path| !path.exists())
        .ok_or_else(|| io::Error::other("too many folders of damaged files"))?;
    fs::create_dir(&aside)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let copied = name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".log");
        if copied {
            fs::copy(entry.path(), aside.join(entry.file_name()))?;
        }
    }
    Ok(aside)
}

/// Lets RocksDB build a new manifest from the files in the directory. It moves tables that it
/// cannot read at all to its directory `lost`.
fn rebuild_manifest(
    dir: &Path,
    shared: &Shared,
    journal: &Journal,
    findings: &Findings,
) -> Result<()> {
    findings.report(Finding::Lost(
        "the database's manifest cannot be read and was rebuilt from the tables that are there; recently deleted data may be \
         back, and tables that cannot be read are in the directory lost of the database"
            .to_owned(),
    ));
    let options = tuning::database(shared, Strictness::Salvage);
    let mut options = options.map_err(|error| open_failure(dir, error))?;
    options.create_missing_column_families(true);
    let marker = dir.join(REPAIRING);
    let sync = |file: &Path| fs::File::open(file).and_then(|file| file.sync_all());
    let marked = fs::write(&marker, "a repair was begun and not finished\n");
    marked
        .and_then(|()| sync(&marker))
        .and_then(|()| sync(dir))
        .map_err(|error| opening(dir, error))?;
    // The tables may not contain the largest sequence numbers.
    journal.forget().map_err(|error| opening(dir, error))?;
    findings.set_log_read_mode(LogReadMode::Salvage);
    let repaired = DB::repair(&options, dir);
    findings.set_log_read_mode(LogReadMode::Normal);
    repaired.map_err(|error| open_failure(dir, error))?;
    fs::remove_file(&marker).and_then(|()| sync(dir)).map_err(|error| opening(dir, error))
}

/// Refuses a database with unknown keyspaces: RocksDB's own error would not say what to do about
/// it.
fn refuse_unknown_keyspaces(dir: &Path, options: &rocksdb::Options) -> Result<()> {
    match dir.join("CURRENT").exists() {
        true => stored_keyspaces(dir, options).map(drop),
        false => Ok(()),
    }
}

/// Returns the names of the keyspaces of a database. Fails if one of them is unknown to this
/// version.
pub(super) fn stored_keyspaces(dir: &Path, options: &rocksdb::Options) -> Result<Vec<String>> {
    let known = |name: &str| {
        name == DEFAULT_COLUMN_FAMILY_NAME
            || Keyspace::ALL.iter().any(|keyspace| keyspace.name() == name)
    };
    let stored = DB::list_cf(options, dir).map_err(|error| open_failure(dir, error))?;
    match stored.iter().find(|name| !known(name)) {
        Some(unknown) => Err(newer(dir, &format!("it has a keyspace {unknown:?}"))),
        None => Ok(stored),
    }
}

pub(super) fn newer(dir: &Path, how: &str) -> Error {
    let reason = format!("it was written by a newer version of this program: {how}");
    Error::Open { path: dir.to_owned(), reason }
}

pub(super) fn open_failure(dir: &Path, error: rocksdb::Error) -> Error {
    // A missing file that the manifest or `CURRENT` names is damage like any other.
    let missing = error.as_ref().contains("No such file or directory");
    match failure(&format!("opening {}", dir.display()), error) {
        Error::Storage(reason) if missing => Error::Corrupt(reason),
        Error::Storage(reason) => Error::Open { path: dir.to_owned(), reason },
        other => other,
    }
}

fn opening(dir: &Path, source: io::Error) -> Error {
    io_failure(&format!("opening {}", dir.display()), source)
}
