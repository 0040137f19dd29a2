//! Repairs the logs before the database is opened.
//!
//! Sequence numbers missing between batches are judged by the mark, the largest of the stored and
//! the stamped ones:
//!
//! * A hole that starts at or below the mark: something acknowledged is lost, and is reported. All
//!   undamaged batches are kept.
//! * A hole entirely above the mark was never acknowledged: it was torn by a power loss. What
//!   follows it is unacknowledged too and depends on missing batches, so the logs end at the hole,
//!   as in a point-in-time recovery.
//! * Logs that end below the mark have lost their end.
//!
//! When a database is reopened that was closed in this process, the logs end at the first batch
//! that was never published (`mod.rs` gives the reason).
//!
//! Without a mark, or when a program that knows no mark wrote the logs, everything missing is
//! reported.
//!
//! A changed log is written to a new file, which replaces the old one when it is on disk. It keeps
//! its length, which the manifest may contain, by ending in zeros.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::format::{LogItem, LogReader, put_record};
use super::logged_batch::LoggedBatch;
use super::mark::{Journal, Mark};
use super::needed_logs::{LogFile, NeededLogs};
use super::survey::{Hole, LogPosition, Survey, SurveyError};
use crate::damage::Finding;
use crate::dir_sync::sync_dir;

use super::super::findings::Findings;

/// File extension of a rewritten log until it replaces the old one.
const NEW_EXTENSION: &str = "mending";
/// How often a check of an open database restarts because a log was deleted meanwhile.
const CHECKS_MAX: usize = 10;

/// What to do about the findings in the logs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) losses: Vec<Loss>,
    /// Everything from this position on is dropped.
    pub(super) cut: Option<LogPosition>,
    /// Whether the losses extend to the end of what was acknowledged.
    pub(super) end: bool,
}

/// Entries that were acknowledged, or may have been, and are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// The index of the log.
    pub(super) log: usize,
    pub(super) first: u64,
    /// `None` when the number of entries is unknown.
    pub(super) last: Option<u64>,
    /// Whether `first` is only a lower bound.
    pub(super) at_most: bool,
}

impl Journal {
    /// Repairs the logs of the closed database such that an open loses no more of their entries,
    /// and reports what is lost. Copies them with `set_aside` before a change that accompanies a
    /// reported loss. Returns whether the logs could be read: not while the manifest is damaged.
    pub(in super::super) fn repair(
        &self,
        findings: &Findings,
        set_aside: impl FnOnce() -> io::Result<PathBuf>,
    ) -> io::Result<bool> {
        let Some(needed) = NeededLogs::of(&self.db)? else { return Ok(false) };
        let stored = self.stored();
        let published = self.published();
        let survey = match Survey::of(&needed.logs, lacks_first(stored, &needed), published) {
            Ok(survey) => survey,
            Err(SurveyError::Io(error)) => return Err(error),
            Err(SurveyError::UnknownRecords) => {
                self.forget_published();
                tracing::warn!(
                    "the database's log contains record types of other programs and is left to RocksDB"
                );
                return Ok(true);
            }
        };
        let logs = &needed.logs;
        let mark = effective_mark(stored, &survey, &needed);
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
            findings.report(Finding::Lost(describe(*loss, number_of(logs, loss.log))));
        }
        if survey.unpublished.is_some() {
            tracing::warn!(
                "dropping writes from the database's log that had failed and were reported as failed"
            );
        } else if plan.cut.is_some() {
            tracing::warn!(
                "dropping torn writes that were never acknowledged, and the writes after them"
            );
        }
        if plan.end {
            self.set_end_loss_reported();
        }
        // Entries written from now on, such as rows of damaged tables, have larger numbers.
        self.forget_published();
        Ok(true)
    }

    /// Adds one line to `damaged` per damaged part of the logs and of the mark. Changes nothing.
    pub(in super::super) fn check(&self, damaged: &mut Vec<String>) -> io::Result<()> {
        let mut is_manifest_readable = true;
        for _ in 0..CHECKS_MAX {
            // Before the logs are listed: what was acknowledged by then is in them.
            let stored = self.read_mark();
            // The end of the manifest may just be written.
            let needed = NeededLogs::of(&self.db)?;
            is_manifest_readable = needed.is_some();
            let Some(needed) = needed else { continue };
            let mark = stored.intact();
            let survey = match Survey::of(&needed.logs, lacks_first(mark, &needed), None) {
                Ok(survey) => survey,
                // A log that is no longer needed.
                Err(SurveyError::Io(error)) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(SurveyError::Io(error)) => return Err(error),
                Err(SurveyError::UnknownRecords) => return damaged_parts(&needed.logs, damaged),
            };
            let mark = effective_mark(mark, &survey, &needed);
            damaged.extend(stored.damage());
            let number = |log: usize| number_of(&needed.logs, log);
            for loss in plan(&survey, mark, needed.logs.len()).losses {
                damaged.push(describe(loss, number(loss.log)));
            }
            for (log, parts) in &survey.damaged {
                damaged.extend(parts.iter().map(|bytes| describe_bytes(number(*log), bytes)));
            }
            return Ok(());
        }
        if !is_manifest_readable {
            damaged.push(
                "the manifest of the database is damaged; its logs cannot be checked without it"
                    .to_owned(),
            );
            return Ok(());
        }
        Err(io::Error::other("logs of the database were deleted faster than they could be read"))
    }
}

/// Returns the number of the surveyed log at `index`.
fn number_of(logs: &[LogFile], index: usize) -> u64 {
    let Some(log) = logs.get(index) else {
        unreachable!("damage lies in one of the {} logs, not in the log {index}", logs.len())
    };
    log.number
}

/// Adds one line to `damaged` per damaged part of logs that only RocksDB can interpret.
fn damaged_parts(logs: &[LogFile], damaged: &mut Vec<String>) -> io::Result<()> {
    for log in logs {
        for item in LogReader::of(&fs::read(&log.path)?) {
            if let Ok(LogItem::Damaged { from, to }) = item {
                damaged.push(describe_bytes(log.number, &(from..to)));
            }
        }
    }
    Ok(())
}

fn describe_bytes(log: u64, bytes: &Range<usize>) -> String {
    format!("log {log:06}.log of the database: bytes {} to {} are damaged", bytes.start, bytes.end)
}

/// Returns the mark by which holes are judged.
fn effective_mark(stored: Option<Mark>, survey: &Survey, needed: &NeededLogs) -> Option<Mark> {
    stored.filter(|_| !survey.unstamped).map(|mark| Mark {
        acknowledged: mark.acknowledged.max(survey.stamp),
        base: mark.base.max(needed.starts_after),
    })
}

/// Returns whether a needed log is missing. A copy of a database has no mark, and only the logs
/// that it needs itself.
fn lacks_first(stored: Option<Mark>, needed: &NeededLogs) -> bool {
    stored.is_some() && needed.lacks_first
}

/// Decides what to do about the findings in this many logs.
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
    // If there is no batch at all, only the open database knows its last sequence number.
    if let (Some(mark), Some(first), Some(log)) = (mark, survey.next, logs.checked_sub(1))
        && first <= mark.acknowledged
        && !plan.end
    {
        plan.end = true;
        plan.losses.push(Loss { log, first, last: Some(mark.acknowledged), at_most: false });
    }
    plan
}

/// Rewrites a log with its batches before the cut.
fn rewrite(db: &Path, log: &LogFile, index: usize, cut: Option<LogPosition>) -> io::Result<()> {
    let old = fs::read(&log.path)?;
    let mut new = Vec::with_capacity(old.len());
    for item in LogReader::of(&old) {
        let Ok(LogItem::Record { at, bytes }) = item else { continue };
        if cut.is_none_or(|cut| (index, at) < cut) && LoggedBatch::read(&bytes).is_some() {
            put_record(&mut new, &bytes);
        }
    }
    new.resize(new.len().max(old.len()), 0);
    let path = log.path.with_extension(NEW_EXTENSION);
    let mut file = File::create(&path)?;
    file.write_all(&new)?;
    file.sync_all()?;
    fs::rename(path, &log.path)?;
    sync_dir(db)
}

fn describe(loss: Loss, log: u64) -> String {
    let Loss { first, last, at_most, .. } = loss;
    let what = "recently written documents, records or blocks";
    match last {
        Some(last) => {
            let most = if at_most { "at most " } else { "" };
            assert!(first <= last, "a loss of the entries {first} to {last} is not planned");
            let entries = last - first + 1;
            format!(
                "{most}{entries} entries of the database's log (sequence numbers {first} to {last}, file {log:06}.log): {what}"
            )
        }
        None => format!(
            "the end of the database's log (sequence number {first} and those after it, file {log:06}.log): {what}"
        ),
    }
}
