//! Opening the database, whatever state its files are in.
//!
//! Each step is tried only when those before it did not suffice, and everything that is given up is told:
//!
//! 1. `CURRENT` is made to name a manifest that is there, a damaged one gets its bytes back or loses an end that was never in
//!    force, tables get back what is damaged at their ends, and damaged logs are
//!    written anew without what is damaged of them (`journal`).
//! 2. An ordinary open.
//! 3. Damaged tables and the manifest get their old bytes back from their guards (`guard.rs`).
//! 4. Tables that keep it from opening are taken out, what can be read of them written anew (`heal.rs`).
//! 5. Records of the log that RocksDB does not take are left out.
//! 6. RocksDB makes a new manifest from the tables it finds.
//!
//! Before anything is given up, manifest and logs are copied to a folder beside the database, `db.damaged-<n>`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rocksdb::{DB, DEFAULT_COLUMN_FAMILY_NAME};

use super::failure::{failure, io_failure};
use super::findings::{Findings, Hearing, mended};
use super::guard::{Guards, Health, current_manifest, manifests};
use super::handle::Database;
use super::journal::Journal;
use super::keyspace::Keyspace;
use super::manifest;
use super::rescue;
use super::tuning::{self, Shared, Strictness};
use crate::damage::Finding;
use crate::error::{Error, Result};

/// Is in the folder while RocksDB makes a new manifest.
const REPAIRING: &str = "REPAIRING";
const MANIFEST_MENDED: &str = "the database's manifest was damaged, and has its bytes again";
/// Tables that one open takes out before it leaves the rest to RocksDB's repair.
const TABLES_TAKEN_OUT_MAX: usize = 64;

/// Opens the database in `dir`, which is made if it is missing.
pub(super) fn open(
    dir: &Path,
    shared: &Shared,
    guards: &Guards,
    journal: &Journal,
    findings: &Findings,
) -> Result<Database> {
    let db = open_damaged(dir, shared, guards, journal, findings)?;
    journal.opened(&db, findings);
    // Each open makes a new manifest: until it is copied, one damage to it is beyond mending.
    if let Err(error) = guards.copy_manifest(|| db.background_error().is_none()) {
        tracing::warn!(%error, "the manifest of the database was not copied; the next look tries again");
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
        // The manifest of a repair that was interrupted does not name all tables, and those that it does not name would go.
        repair(dir, shared, journal, findings)?;
    }
    name_a_manifest(dir, guards, findings)
        .and_then(|()| mend_manifest(dir, guards, journal, findings))
        .map_err(|error| opening(dir, error))?;
    mend_ends(guards, findings);
    let mend_log =
        || journal.mend(findings, || set_aside(dir)).map_err(|error| opening(dir, error));
    let log_is_read = mend_log()?;
    let why = match try_open(dir, shared, Strictness::Strict, findings) {
        Err(Error::Corrupt(why)) => why,
        outcome => return outcome,
    };
    if mend(guards, findings).map_err(|error| opening(dir, error))? {
        if !log_is_read {
            mend_log()?;
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
        // Where even this fails, the steps below are left.
        if rescue::take_out(dir, shared, findings, &suspects, &aside).is_err() {
            break;
        }
        let outcome = try_open(dir, shared, Strictness::Strict, findings);
        let Err(Error::Corrupt(_)) = outcome else { return outcome };
    }
    if let Ok(salvaged) = salvage(dir, shared, findings) {
        drop(salvaged);
        findings.report(Finding::Lost(format!(
            "a part of the database, which opened only without it: {why}"
        )));
        let outcome = try_open(dir, shared, Strictness::Strict, findings);
        let Err(Error::Corrupt(_)) = outcome else { return outcome };
    }
    repair(dir, shared, journal, findings)?;
    let db = try_open(dir, shared, Strictness::Strict, findings)?;
    if fs::read_dir(dir.join("lost")).is_ok_and(|mut lost| lost.next().is_some()) {
        // Nobody knows what was in tables that cannot be read; what lists blocks is made again from the blocks.
        rescue::note_loss(&db, Keyspace::Catalog)?;
        rescue::note_loss(&db, Keyspace::EventCatalog)?;
        rescue::note_loss(&db, Keyspace::Registry)?;
    }
    Ok(db)
}

/// An open that goes around damage, of the log too. What it saved of the log is in tables when it returns.
pub(super) fn salvage(dir: &Path, shared: &Shared, findings: &Findings) -> Result<Database> {
    findings.listen_for(Hearing::Salvage);
    let opened = try_open(dir, shared, Strictness::Salvage, findings);
    findings.listen_for(Hearing::Usual);
    opened
}

pub(super) fn try_open(
    dir: &Path,
    shared: &Shared,
    strictness: Strictness,
    findings: &Findings,
) -> Result<Database> {
    let failed = |error: rocksdb::Error| {
        findings.hear(error.as_ref());
        open_failure(dir, error)
    };
    let options = tuning::database(shared, strictness).map_err(failed)?;
    refuse_unknown_keyspaces(dir, &options)?;
    let families = Keyspace::ALL.map(|k| (k.name(), tuning::keyspace(k, shared, strictness)));
    let unused = (DEFAULT_COLUMN_FAMILY_NAME, tuning::unused(shared, strictness));
    let families = families.into_iter().chain([unused]);
    let db = DB::open_cf_with_opts(&options, dir, families).map_err(failed)?;
    remove_old_options(dir);
    Ok(Database::new(db))
}

/// Removes all texts of RocksDB's options but the newest. Nobody reads them, and the second one that it keeps is a tenth of a
/// small database.
fn remove_old_options(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let number = |path: &PathBuf| -> Option<u64> {
        path.file_name()?.to_str()?.strip_prefix("OPTIONS-")?.parse().ok()
    };
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    all.retain(|path| number(path).is_some());
    let newest = all.iter().max_by_key(|path| number(path)).cloned();
    for old in all.iter().filter(|path| Some(*path) != newest.as_ref()) {
        // One that stays is removed the next time.
        let _removed = fs::remove_file(old);
    }
}

/// `CURRENT` is one line, without which the manifest is not found, and a new database would be made over the old one.
fn name_a_manifest(dir: &Path, guards: &Guards, findings: &Findings) -> io::Result<()> {
    if current_manifest(dir).is_some() || !has_tables_or_logs(dir) {
        return Ok(());
    }
    let mended = guards.mend_manifest()?;
    let number = |path: &PathBuf| path.to_string_lossy().rsplit('-').next()?.parse::<u64>().ok();
    let Some(newest) = manifests(dir).into_iter().max_by_key(number) else {
        // Step 6 makes one; anything here keeps RocksDB from beginning a new database.
        return fs::write(dir.join("CURRENT"), "MANIFEST-000000\n");
    };
    let name = newest.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let new = dir.join("CURRENT.dbtmp");
    fs::write(&new, format!("{name}\n"))?;
    fs::File::open(&new)?.sync_all()?;
    fs::rename(&new, dir.join("CURRENT"))?;
    let also = if mended { ", which was made again from its copy" } else { "" };
    findings.report(Finding::Mended(format!(
        "the database's file CURRENT was damaged: it names {name} again{also}"
    )));
    Ok(())
}

/// A damaged manifest gets its bytes back; what a power loss tore off its end is cut.
fn mend_manifest(
    dir: &Path,
    guards: &Guards,
    journal: &Journal,
    findings: &Findings,
) -> io::Result<()> {
    if !manifest::is_doubtful(dir)? {
        return Ok(());
    }
    if guards.mend_manifest()? {
        findings.report(Finding::Mended(MANIFEST_MENDED.to_owned()));
    }
    if manifest::cut_torn_end(dir, guards.copied_bytes(), journal)? {
        tracing::warn!(
            "edits of the database's manifest that were never in force had been torn, and are dropped"
        );
    }
    Ok(())
}

fn has_tables_or_logs(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    let mut paths = entries.flatten().map(|entry| entry.path());
    !manifests(dir).is_empty()
        || paths.any(|path| path.extension().is_some_and(|e| e == "sst" || e == "log"))
}

/// Gives tables with damaged ends their bytes back: an open may succeed with them, and reads lack rows then.
fn mend_ends(guards: &Guards, findings: &Findings) {
    for number in guards.guarded() {
        // A guard of a table that is no more, or one that is torn, says nothing.
        if guards.has_whole_end(number).unwrap_or(true) {
            continue;
        }
        match guards.mend(number) {
            Ok(Health::Mendable(sectors)) => findings.report(mended(number, sectors)),
            Ok(_) => {}
            Err(error) => tracing::error!(%error, number, "a damaged table cannot be mended"),
        }
    }
}

/// Gives the tables that were complained about their bytes back, or all where none was named, and the manifest. Answers whether
/// anything changed.
fn mend(guards: &Guards, findings: &Findings) -> io::Result<bool> {
    let mut changed = guards.mend_manifest()?;
    if changed {
        findings.report(Finding::Mended(MANIFEST_MENDED.to_owned()));
    }
    let mut suspects: Vec<u64> = findings.take_suspects().into_iter().collect();
    if suspects.is_empty() && !changed {
        suspects = guards.guarded();
    }
    for number in suspects {
        match guards.mend(number) {
            Ok(Health::Mendable(sectors)) => {
                findings.report(mended(number, sectors));
                changed = true;
            }
            Ok(_) => {}
            // A guard of a table that is no more.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(changed)
}

/// Copies what the next steps may change to a new folder beside the database.
pub(super) fn set_aside(dir: &Path) -> io::Result<PathBuf> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = (1_u32..)
        .map(|n| dir.with_file_name(format!("{name}.damaged-{n}")))
        .find(|path| !path.exists())
        .ok_or_else(|| io::Error::other("too many folders of damaged files"))?;
    fs::create_dir(&aside)?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let told = name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".log");
        if told {
            fs::copy(entry.path(), aside.join(entry.file_name()))?;
        }
    }
    Ok(aside)
}

/// RocksDB makes a new manifest of what it finds in the folder. Tables that it cannot read at all go to its folder `lost`.
fn repair(dir: &Path, shared: &Shared, journal: &Journal, findings: &Findings) -> Result<()> {
    findings.report(Finding::Lost(
        "the database's manifest cannot be read: it was made again from the tables that are there; what was deleted last may be \
         back, and tables that cannot be read are in the folder lost of the database"
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
    // The tables may not know of the largest sequence numbers.
    journal.forget().map_err(|error| opening(dir, error))?;
    findings.listen_for(Hearing::Salvage);
    let repaired = DB::repair(&options, dir);
    findings.listen_for(Hearing::Usual);
    repaired.map_err(|error| open_failure(dir, error))?;
    fs::remove_file(&marker).and_then(|()| sync(dir)).map_err(|error| opening(dir, error))
}

/// RocksDB's own refusal of a keyspace that it is not told of would not say what to do about it.
fn refuse_unknown_keyspaces(dir: &Path, options: &rocksdb::Options) -> Result<()> {
    match dir.join("CURRENT").exists() {
        true => stored_keyspaces(dir, options).map(drop),
        false => Ok(()),
    }
}

/// The names of the keyspaces of a database. Refuses those that this program does not know.
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
    // A file that the manifest or `CURRENT` names and that is not there is damage as any other.
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
