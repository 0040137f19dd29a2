//! How far the import of each file came, kept in `imports/` inside the data directory: one JSON file per imported
//! file and way of reading it. Written before a chunk is stored and after, each time whole, synced and renamed
//! into place, so that a crash leaves one of the two.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;
use xxhash_rust::xxh3::xxh3_128;

use super::input::Input;
use super::plan::Source;
use super::rows::Place;

/// The folder inside the data directory.
const FOLDER: &str = "imports";
/// Bytes at the beginning of a file by which it is known again.
const HEAD_BYTES_MAX: u64 = 4_096;

/// How far the import of a file came.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// `None` of standard input, which nobody can go on with.
    path: Option<PathBuf>,
    state: State,
}

#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// The file, for people who look.
    file: PathBuf,
    /// How it is read, for people who look.
    meaning: String,
    head: Head,
    /// When the import began; part of its idempotency keys, so that a restart stores anew.
    began_ms: i64,
    /// Everything before this place is stored; absent before the first chunk.
    done: Option<Place>,
    /// A chunk that may or may not be stored.
    in_doubt: Option<Chunk>,
}

/// The beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    bytes: u64,
    hash: String,
}

/// A chunk whose rows are read and about to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    pub(super) start: Place,
    pub(super) end: Place,
    /// The time of rows that have none of their own.
    pub(super) now_ms: i64,
    pub(super) way: Way,
}

/// The way that a chunk goes; the two do not know each other's idempotency keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Way {
    /// Requests to a running server.
    Server,
    /// Straight into the engine of a stopped one.
    Engine,
}

impl Checkpoint {
    /// Reads the checkpoint of a file, or begins one: when there is none, when the file is not the one that it was
    /// made for any more, and when `restart` asks for it.
    pub(super) fn open(
        data: &Path,
        source: &Source,
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
            Ok(text) => Some(serde_json::from_slice::<State>(&text)?),
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
        let state = State { file, meaning, head, began_ms: now.0, done: None, in_doubt: None };
        Ok(Self { path: Some(path), state })
    }

    fn unsaved(source: &Source, now: TimestampMs) -> Self {
        let head = Head { bytes: 0, hash: String::new() };
        let (file, meaning) = (source.path.clone(), source.meaning());
        let state = State { file, meaning, head, began_ms: now.0, done: None, in_doubt: None };
        Self { path: None, state }
    }

    /// Whether nothing is remembered of the file.
    pub(super) fn is_fresh(&self) -> bool {
        self.state.done.is_none() && self.state.in_doubt.is_none()
    }

    /// Remembers nothing of the file any more.
    pub(super) fn forget(self) -> io::Result<()> {
        match self.path.map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Everything before this place is stored.
    pub(super) fn done(&self) -> Option<Place> {
        self.state.done
    }

    /// The chunk of which nobody knows whether it is stored.
    pub(super) fn in_doubt(&self) -> Option<Chunk> {
        self.state.in_doubt
    }

    /// The name of a chunk, the same whenever it is read again.
    pub(super) fn key(&self, chunk: &Chunk) -> String {
        let stem = self.path.as_deref().and_then(Path::file_stem).map_or_else(
            || format!("stdin-{}", std::process::id()),
            |stem| stem.to_string_lossy().into_owned(),
        );
        format!("import-{stem}-{}-{}", self.state.began_ms, chunk.start.byte)
    }

    /// Remembers that a chunk is about to be stored.
    pub(super) fn announce(&mut self, chunk: Chunk) -> io::Result<()> {
        self.state.in_doubt = Some(chunk);
        self.save()
    }

    /// Remembers that everything before `place` is stored.
    pub(super) fn complete(&mut self, place: Place) -> io::Result<()> {
        self.state.done = Some(place);
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

/// Whether the file is as long as an earlier import has come.
fn reaches(file: &Path, done: Option<Place>) -> bool {
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

    fn place(byte: u64) -> Place {
        Place { byte, line: byte / 10 + 1 }
    }

    #[test]
    fn a_checkpoint_is_found_again_until_the_file_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let source = Source::new(dir.path().join("x.ndjson"), Form::Ndjson);
        fs::write(&source.path, "0123456789\n0123456789\n").unwrap();
        let open = |restart| Checkpoint::open(dir.path(), &source, NOW, restart).unwrap();
        let chunk = Chunk { start: place(0), end: place(11), now_ms: 7, way: Way::Server };

        let mut first = open(false);
        assert_eq!((first.done(), first.in_doubt()), (None, None));
        first.announce(chunk).unwrap();
        assert_eq!(
            (open(false).in_doubt(), open(false).key(&chunk)),
            (Some(chunk), first.key(&chunk))
        );
        first.complete(place(11)).unwrap();
        assert_eq!((open(false).done(), open(false).in_doubt()), (Some(place(11)), None));

        let mut longer = fs::read(&source.path).unwrap();
        longer.extend_from_slice(b"more\n");
        fs::write(&source.path, &longer).unwrap();
        assert_eq!(open(false).done(), Some(place(11)), "rows were appended");
        assert_eq!(open(true).done(), None, "a restart was asked for");
        fs::write(&source.path, "0123456789\n").unwrap();
        assert_eq!(open(false).done(), None, "the file was cut");
        fs::write(&source.path, "X123456789\n0123456789\n").unwrap();
        assert_eq!(open(false).done(), None, "the file was replaced");

        let mut last = open(false);
        assert!(last.is_fresh());
        last.complete(place(11)).unwrap();
        assert!(!open(false).is_fresh());
        last.forget().unwrap();
        assert!(open(false).is_fresh());
    }
}
