//! Checkpoints of imports, kept in `imports/` inside the data directory: one JSON file per imported
//! file and interpretation of it. A checkpoint is written before and after a chunk is stored, each
//! time as a whole, synced and renamed into place, so that a crash leaves one of the two versions.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;
use xxhash_rust::xxh3::xxh3_128;

use super::input::Input;
use super::plan::ImportSource;
use super::rows::FilePosition;

/// The folder inside the data directory.
const FOLDER: &str = "imports";
/// Bytes at the start of a file by which it is recognised.
const HEAD_BYTES_MAX: u64 = 4_096;

/// The progress of the import of one file.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// `None` for standard input, whose import cannot be resumed.
    path: Option<PathBuf>,
    state: CheckpointState,
}

#[derive(Debug, Serialize, Deserialize)]
struct CheckpointState {
    /// The file, for human readers.
    file: PathBuf,
    /// How the file is interpreted, for human readers.
    meaning: String,
    head: Head,
    /// When the import started; part of its idempotency keys, so that a restarted import stores its
    /// rows again.
    began_ms: i64,
    /// Everything before this position is stored; `None` before the first chunk.
    done: Option<FilePosition>,
    /// A chunk of which it is unknown whether it is stored.
    in_doubt: Option<Chunk>,
}

/// The start of a file, by which it is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    bytes: u64,
    hash: String,
}

/// A chunk of rows that have been read and are about to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    pub(super) start: FilePosition,
    pub(super) end: FilePosition,
    /// The timestamp of rows that have none.
    pub(super) now_ms: i64,
    pub(super) way: StoreVia,
}

/// How a chunk is stored; idempotency keys of one way are unknown to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoreVia {
    /// By requests to a running server.
    Server,
    /// By writes to the engine of a stopped server.
    Engine,
}

impl Checkpoint {
    /// Reads the checkpoint of a file. Starts a new one if there is none, if the file is no longer
    /// the one it was made for, or if `restart` is set.
    pub(super) fn open(
        data: &Path,
        source: &ImportSource,
        now: TimestampMs,
        restart: bool,
    ) -> io::Result<Self> {
        if source.input == Input::Stdin {
            return Ok(Self::unsaved(source, now));
        }
        let file = fs::canonicalize(&source.path)?;
        let meaning = source.meaning();
        let identity = format!("{}\n{meaning}", file.display());
        let path = data.join(FOLDER).join(format!("{:032x}.json", xxh3_128(identity.as_bytes())));
        let earlier = match fs::read(&path) {
            Ok(_) if restart => None,
            Ok(text) => Some(serde_json::from_slice::<CheckpointState>(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(state) = earlier
            && Head::of(&file, state.head.bytes)? == state.head
            && (source.input == Input::Gzip || reaches(&file, state.done))
        {
            return Ok(Self { path: Some(path), state });
        }
        let head = Head::of(&file, HEAD_BYTES_MAX)?;
        let state =
            CheckpointState { file, meaning, head, began_ms: now.0, done: None, in_doubt: None };
        Ok(Self { path: Some(path), state })
    }

    fn unsaved(source: &ImportSource, now: TimestampMs) -> Self {
        let head = Head { bytes: 0, hash: String::new() };
        let (file, meaning) = (source.path.clone(), source.meaning());
        let state =
            CheckpointState { file, meaning, head, began_ms: now.0, done: None, in_doubt: None };
        Self { path: None, state }
    }

    /// Returns whether there is no progress.
    pub(super) fn is_fresh(&self) -> bool {
        self.state.done.is_none() && self.state.in_doubt.is_none()
    }

    /// Deletes the checkpoint.
    pub(super) fn forget(self) -> io::Result<()> {
        match self.path.map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the position before which everything is stored.
    pub(super) fn done(&self) -> Option<FilePosition> {
        self.state.done
    }

    /// Returns the chunk of which it is unknown whether it is stored.
    pub(super) fn in_doubt(&self) -> Option<Chunk> {
        self.state.in_doubt
    }

    /// Returns the idempotency key of a chunk, which is the same each time it is read.
    pub(super) fn key(&self, chunk: &Chunk) -> String {
        let stem = self.path.as_deref().and_then(Path::file_stem).map_or_else(
            || format!("stdin-{}", std::process::id()),
            |stem| stem.to_string_lossy().into_owned(),
        );
        format!("import-{stem}-{}-{}", self.state.began_ms, chunk.start.byte)
    }

    /// Records that a chunk is about to be stored.
    pub(super) fn announce(&mut self, chunk: Chunk) -> io::Result<()> {
        self.state.in_doubt = Some(chunk);
        self.save()
    }

    /// Records that everything before `position` is stored.
    pub(super) fn complete(&mut self, position: FilePosition) -> io::Result<()> {
        self.state.done = Some(position);
        self.state.in_doubt = None;
        self.save()
    }

    fn save(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let fresh = path.with_extension("tmp");
        let mut file = File::create(&fresh)?;
        file.write_all(&serde_json::to_vec_pretty(&self.state)?)?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        File::open(folder)?.sync_all()
    }
}

/// Returns whether the file is still at least as long as the imported part.
fn reaches(file: &Path, done: Option<FilePosition>) -> bool {
    done.is_none_or(|done| fs::metadata(file).is_ok_and(|there| there.len() >= done.byte))
}

impl Head {
    fn of(file: &Path, bytes_max: u64) -> io::Result<Self> {
        let mut head = Vec::new();
        File::open(file)?.take(bytes_max).read_to_end(&mut head)?;
        Ok(Self { bytes: head.len() as u64, hash: format!("{:032x}", xxh3_128(&head)) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Form;
    use super::*;

    const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

    fn position(byte: u64) -> FilePosition {
        FilePosition { byte, line: byte / 10 + 1 }
    }

    #[test]
    fn a_checkpoint_is_used_until_the_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let source = ImportSource::new(dir.path().join("x.ndjson"), Form::Ndjson);
        fs::write(&source.path, "0123456789\n0123456789\n").unwrap();
        let open = |restart| Checkpoint::open(dir.path(), &source, NOW, restart).unwrap();
        let chunk =
            Chunk { start: position(0), end: position(11), now_ms: 7, way: StoreVia::Server };

        let mut first = open(false);
        assert_eq!((first.done(), first.in_doubt()), (None, None));
        first.announce(chunk).unwrap();
        assert_eq!(
            (open(false).in_doubt(), open(false).key(&chunk)),
            (Some(chunk), first.key(&chunk))
        );
        first.complete(position(11)).unwrap();
        assert_eq!((open(false).done(), open(false).in_doubt()), (Some(position(11)), None));

        let mut longer = fs::read(&source.path).unwrap();
        longer.extend_from_slice(b"more\n");
        fs::write(&source.path, &longer).unwrap();
        assert_eq!(open(false).done(), Some(position(11)), "rows were appended");
        assert_eq!(open(true).done(), None, "a restart was requested");
        fs::write(&source.path, "0123456789\n").unwrap();
        assert_eq!(open(false).done(), None, "the file was cut");
        fs::write(&source.path, "X123456789\n0123456789\n").unwrap();
        assert_eq!(open(false).done(), None, "the file was replaced");

        let mut last = open(false);
        assert!(last.is_fresh());
        last.complete(position(11)).unwrap();
        assert!(!open(false).is_fresh());
        last.forget().unwrap();
        assert!(open(false).is_fresh());
    }
}
