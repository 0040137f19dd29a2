//! Faults: which call on which file fails, and how.

use std::fmt;

use crate::random::Random;

/// The purpose of a file in a data directory, according to its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A segment of the engine's write-ahead log.
    Log,
    /// RocksDB's write-ahead log.
    DbLog,
    /// A table of RocksDB.
    Table,
    /// RocksDB's manifest, or the file that names it.
    Manifest,
    /// Any other file.
    Other,
    /// A directory.
    Directory,
}

impl FileKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Log, Self::DbLog, Self::Table, Self::Manifest, Self::Other, Self::Directory];

    /// Returns the kind of the file at `path`.
    pub fn of(path: &str) -> Self {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match (dir.ends_with("/db"), extension) {
            (false, "log") => Self::Log,
            (true, "log") => Self::DbLog,
            (_, "sst") => Self::Table,
            (true, "dbtmp") => Self::Manifest,
            _ if name == "CURRENT" || name.starts_with("MANIFEST") => Self::Manifest,
            _ => Self::Other,
        }
    }
}

/// Kinds of system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// Opens an existing file.
    Open,
    /// Creates a file or directory.
    Create,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Makes content or names durable.
    Sync,
    /// Changes a length.
    Truncate,
    /// Renames or links.
    Rename,
    /// Deletes.
    Unlink,
}

impl Call {
    /// All calls.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Create,
        Self::Read,
        Self::Write,
        Self::Sync,
        Self::Truncate,
        Self::Rename,
        Self::Unlink,
    ];

    /// Returns whether the call changes the contents of a disk.
    pub(crate) fn changes(self) -> bool {
        !matches!(self, Self::Open | Self::Read)
    }
}

/// The error of a failing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Errno {
    /// The device failed.
    Io,
    /// The disk is full.
    NoSpace,
    /// The process has reached its limit of open files.
    TooManyFiles,
    /// A signal interrupted the call, which should be retried.
    Interrupted,
}

/// The effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The call does nothing and fails. A failing sync may have written some sectors, and drops the
    /// others.
    Fail(Errno),
    /// A write writes fewer bytes than requested.
    Short,
    /// A sync does nothing and succeeds.
    FalseSuccess,
    /// The machine or the process stops before the call; any part of a write may have been done.
    Stop,
}

/// A fault that strikes a later call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of file, or any if `None`.
    pub kind: Option<FileKind>,
    /// The kind of call, or any that changes the disk if `None`.
    pub call: Option<Call>,
    /// Number of matching calls that succeed before it.
    pub after: u32,
    /// How often it strikes.
    pub times: u32,
    /// Its effect.
    pub effect: Effect,
}

impl Fault {
    /// Returns a random fault, for one of these kinds of files or sometimes for all. A sync without
    /// effect only strikes files of the kind `liar`; without one such a sync fails.
    pub fn any(random: &mut Random, kinds: &[FileKind], liar: Option<FileKind>) -> Self {
        let kind = random.percent(80).then(|| *random.pick(kinds));
        let (call, effect) = match random.weighted(&[8, 4, 3, 2, 2, 2, 2, 2, 1, 1]) {
            0 => (None, Effect::Stop),
            1 => (Some(Call::Sync), Effect::Fail(Errno::Io)),
            2 => (Some(Call::Write), Effect::Fail(*random.pick(&[Errno::Io, Errno::NoSpace]))),
            3 => (Some(Call::Write), Effect::Short),
            4 => (
                Some(Call::Create),
                Effect::Fail(*random.pick(&[Errno::TooManyFiles, Errno::NoSpace])),
            ),
            5 => (Some(Call::Truncate), Effect::Fail(Errno::Io)),
            6 => (Some(Call::Write), Effect::Fail(Errno::Interrupted)),
            7 => (Some(Call::Read), Effect::Fail(Errno::Io)),
            8 => (Some(Call::Sync), liar.map_or(Effect::Fail(Errno::Io), |_| Effect::FalseSuccess)),
            _ => (Some(Call::Rename), Effect::Fail(Errno::Io)),
        };
        let kind = if effect == Effect::FalseSuccess { liar } else { kind };
        let after = *random.pick(&[0, 0, 1, 2, 4, 9, 20]);
        let times = if effect == Effect::Stop { 1 } else { *random.pick(&[1, 1, 2, 100]) };
        // A signal interrupts only once, or the program would never make progress.
        let times = if effect == Effect::Fail(Errno::Interrupted) { 1 } else { times };
        Self { kind, call, after, times, effect }
    }

    /// Returns whether the fault strikes this call. Counts the call.
    pub(crate) fn strikes(&mut self, kind: FileKind, call: Call) -> bool {
        let matches_call = self.call.map_or(call.changes(), |only| only == call);
        let matches_file = self.kind.is_none_or(|only| only == kind);
        if !matches_call || !matches_file || self.times == 0 {
            return false;
        }
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        self.times -= 1;
        true
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.map_or("any file".to_owned(), |kind| format!("{kind:?}"));
        let call = self.call.map_or("any change".to_owned(), |call| format!("{call:?}"));
        let Self { after, times, effect, .. } = self;
        write!(f, "{effect:?} at {call} of {kind}, after {after}, {times} times")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files_follow_from_their_paths() {
        for (path, kind) in [
            ("/data/log/00000000000000000001.log", FileKind::Log),
            ("/data/db/000004.log", FileKind::DbLog),
            ("/data/db/000012.sst", FileKind::Table),
            ("/data/db/MANIFEST-000005", FileKind::Manifest),
            ("/data/db/CURRENT", FileKind::Manifest),
            ("/data/db/000001.dbtmp", FileKind::Manifest),
            ("/data/LOCK", FileKind::Other),
        ] {
            assert_eq!(FileKind::of(path), kind, "{path}");
        }
    }

    #[test]
    fn a_fault_counts_its_own_calls() {
        let mut fault = Fault {
            kind: Some(FileKind::Log),
            call: Some(Call::Sync),
            after: 1,
            times: 2,
            effect: Effect::FalseSuccess,
        };
        let mut strikes = |kind, call| fault.strikes(kind, call);
        assert!(!strikes(FileKind::Log, Call::Write) && !strikes(FileKind::Table, Call::Sync));
        assert!(!strikes(FileKind::Log, Call::Sync));
        assert!(strikes(FileKind::Log, Call::Sync) && strikes(FileKind::Log, Call::Sync));
        assert!(!strikes(FileKind::Log, Call::Sync));
    }
}
