//! Mending the logs before the database is opened.
//!
//! What is missing between the batches is judged by the mark, the largest of what is stored and stamped:
//!
//! * A hole that begins at or below it: something acknowledged is lost, and told. All batches that are whole stay.
//! * A hole wholly above it was never acknowledged: a power loss tore it. What follows is unacknowledged too, and would have to follow
//!   something that is not there, so the logs end at the hole, as in a point-in-time recovery.
//! * Logs that end below it have lost their end.
//!
//! When a database is opened again that was closed in this process, the logs end at the first batch that was never published
//! (`mod.rs` says why).
//!
//! Without a mark, or when a program wrote that knows of none, everything that is missing is told.
//!
//! A log that changes is written anew beside the old one, which it replaces when it is on the disk. It keeps its length,
//! since the manifest may know how long it was: zeros at its end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::alive::{LogFile, Needed};
use super::batch::Batch;
use super::format::{Item, Records, put_record};
use super::mark::{Journal, Mark};
use super::survey::{Hole, Place, Survey, Unread};
use crate::damage::Finding;
use crate::dir_sync::sync_dir;

use super::super::findings::Findings;

/// What a log is called until it replaces the old one.
const NEW: &str = "mending";
/// How often a check of an open database begins anew because a log went away meanwhile.
const CHECKS_MAX: usize = 10;

/// What is to be done about what was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) losses: Vec<Loss>,
    /// Nothing from here on stays.
    pub(super) cut: Option<Place>,
    /// Whether the losses reach to the end of what was acknowledged.
    pub(super) end: bool,
}

/// Entries that were acknowledged, or may have been, and are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// The log, by its place in the order.
    pub(super) log: usize,
    pub(super) first: u64,
    /// Nothing when nobody knows how many they were.
    pub(super) last: Option<u64>,
    /// Whether `first` is only known to be the least that is possible.
    pub(super) at_most: bool,
}

impl Journal {
    /// Makes the logs of the closed database such that an open loses nothing more of them, and tells what is lost. Copies them aside
    /// with `set_aside` before something that was told is changed. Answers whether they could be read: not while the
    /// manifest is damaged.
    pub(in super::super) fn mend(
        &self,
        findings: &Findings,
        set_aside: impl FnOnce() -> io::Result<PathBuf>,
    ) -> io::Result<bool> {
        let Some(needed) = Needed::of(&self.db)? else { return Ok(false) };
        let stored = self.stored();
        let published = self.published();
        let survey = match Survey::of(&needed.logs, lacks_first(stored, &needed), published) {
            Ok(survey) => survey,
            Err(Unread::Io(error)) => return Err(error),
            Err(Unread::Strange) => {
                self.forget_published();
                tracing::warn!(
                    "the database's log is left to RocksDB: it has records of other kinds"
                );
                return Ok(true);
            }
        };
        let logs = &needed.logs;
        let mark = judged(stored, &survey, &needed);
        let plan = plan(&survey, mark, logs.len());
        if !plan.losses.is_empty() && !survey.damaged.is_empty() {
            set_aside()?;
        }
        for (index, log) in logs.iter().enumerate() {
            let ends = plan.cut.is_some_and(|(last, _)| last <= index);
            if survey.damaged.contains_key(&index) || ends {
                rewrite(&self.db, log, index, plan.cut)?;
            }
        }
        for loss in &plan.losses {
            let log = logs.get(loss.log).map_or(0, |log| log.number);
            findings.report(Finding::Lost(describe(*loss, log)));
        }
        if survey.unpublished.is_some() {
            tracing::warn!(
                "writes that failed were in the database's log, and are dropped: whoever made them was told that they failed"
            );
        } else if plan.cut.is_some() {
            tracing::warn!(
                "writes that were never acknowledged had been torn, and are dropped with those after them"
            );
        }
        if plan.end {
            self.end_is_told();
        }
        // What is written from now on has larger numbers, such as rows of damaged tables.
        self.forget_published();
        Ok(true)
    }

    /// Adds a line for every damaged part of the logs. Changes nothing.
    pub(in super::super) fn check(&self, damaged: &mut Vec<String>) -> io::Result<()> {
        for _ in 0..CHECKS_MAX {
            // Before the logs are listed: what was acknowledged by then is in them.
            let mark = self.stored();
            let Some(needed) = Needed::of(&self.db)? else { return Ok(()) };
            let survey = match Survey::of(&needed.logs, lacks_first(mark, &needed), None) {
                Ok(survey) => survey,
                // One that is not needed any more.
                Err(Unread::Io(error)) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(Unread::Io(error)) => return Err(error),
                Err(Unread::Strange) => return damaged_parts(&needed.logs, damaged),
            };
            let mark = judged(mark, &survey, &needed);
            let number = |log: usize| needed.logs.get(log).map_or(0, |log| log.number);
            for loss in plan(&survey, mark, needed.logs.len()).losses {
                damaged.push(describe(loss, number(loss.log)));
            }
            for (log, parts) in &survey.damaged {
                damaged.extend(parts.iter().map(|bytes| told_bytes(number(*log), bytes)));
            }
            return Ok(());
        }
        Err(io::Error::other("logs of the database went faster than they could be read"))
    }
}

/// Adds a line for every damaged part of logs that RocksDB alone understands.
fn damaged_parts(logs: &[LogFile], damaged: &mut Vec<String>) -> io::Result<()> {
    for log in logs {
        for item in Records::of(&fs::read(&log.path)?) {
            if let Ok(Item::Damaged { from, to }) = item {
                damaged.push(told_bytes(log.number, &(from..to)));
            }
        }
    }
    Ok(())
}

fn told_bytes(log: u64, bytes: &Range<usize>) -> String {
    format!("log {log:06}.log of the database: bytes {} to {} are damaged", bytes.start, bytes.end)
}

/// The mark by which holes are judged.
fn judged(stored: Option<Mark>, survey: &Survey, needed: &Needed) -> Option<Mark> {
    stored.filter(|_| !survey.unstamped).map(|mark| Mark {
        acknowledged: mark.acknowledged.max(survey.stamp),
        base: mark.base.max(needed.begun_after),
    })
}

/// Whether a log is gone that is needed. A copy of a database, which has no mark, has only those that it needs itself.
fn lacks_first(stored: Option<Mark>, needed: &Needed) -> bool {
    stored.is_some() && needed.lacks_first
}

/// Judges what was found in so many logs.
pub(super) fn plan(survey: &Survey, mark: Option<Mark>, logs: usize) -> Plan {
    let mut plan = Plan { cut: survey.unpublished, ..Plan::default() };
    let least = mark.map_or(1, |mark| mark.base + 1);
    for Hole { at, first, last } in &survey.holes {
        let first = first.filter(|first| *first >= least);
        let at_most = first.is_none();
        let first = first.unwrap_or(least);
        if last.is_some_and(|last| last < first) {
            continue;
        }
        let mut loss = Loss { log: at.0, first, last: *last, at_most };
        if let Some(Mark { acknowledged, .. }) = mark {
            if first > acknowledged {
                plan.cut = Some(*at);
                break;
            }
            loss.last = Some(last.map_or(acknowledged, |last| last.min(acknowledged)));
        }
        plan.end |= last.is_none();
        plan.losses.push(loss);
    }
    // Where there is no batch at all, only the open database knows how far it reaches.
    if let (Some(mark), Some(first), Some(log)) = (mark, survey.next, logs.checked_sub(1))
        && first <= mark.acknowledged
        && !plan.end
    {
        plan.end = true;
        plan.losses.push(Loss { log, first, last: Some(mark.acknowledged), at_most: false });
    }
    plan
}

/// Writes a log anew with its batches before the cut.
fn rewrite(db: &Path, log: &LogFile, index: usize, cut: Option<Place>) -> io::Result<()> {
    let old = fs::read(&log.path)?;
    let mut new = Vec::with_capacity(old.len());
    for item in Records::of(&old) {
        let Ok(Item::Record { at, bytes }) = item else { continue };
        if cut.is_none_or(|cut| (index, at) < cut) && Batch::read(&bytes).is_some() {
            put_record(&mut new, &bytes);
        }
    }
    new.resize(new.len().max(old.len()), 0);
    let path = log.path.with_extension(NEW);
    let mut file = File::create(&path)?;
    file.write_all(&new)?;
    file.sync_all()?;
    fs::rename(path, &log.path)?;
    sync_dir(db)
}

fn describe(loss: Loss, log: u64) -> String {
    let Loss { first, last, at_most, .. } = loss;
    let what = "documents, records or blocks that were written last";
    match last {
        Some(last) => {
            let most = if at_most { "at most " } else { "" };
            let entries = last.saturating_sub(first) + 1;
            format!(
                "{most}{entries} entries of the database's log (sequence numbers {first} to {last}, file {log:06}.log): {what}"
            )
        }
        None => format!(
            "the end of the database's log (sequence number {first} and those after it, file {log:06}.log): {what}"
        ),
    }
}
