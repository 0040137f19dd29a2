//! Source files for benches: those of the crates that cargo has downloaded, in the order of their
//! names.

use std::fs;
use std::path::{Path, PathBuf};

use telltale_server::areas::repositories::ObjectId;
use telltale_server::areas::repositories::index::{Index, IndexBuilder, SourceFile};
use telltale_server::areas::repositories::source;

/// Bytes of a file that is taken, as much as the server indexes by default.
const FILE_BYTES_MAX: usize = 1 << 20;

/// Source files.
#[derive(Debug, Default)]
pub struct Sources {
    /// Paths and texts.
    pub files: Vec<(String, String)>,
    /// The lines of all.
    pub lines: u64,
    /// The bytes of all.
    pub bytes: u64,
}

impl Sources {
    /// Returns files of crates, until they have so many lines.
    ///
    /// # Panics
    ///
    /// If cargo has downloaded less than that.
    pub fn of_crates(lines: u64) -> Self {
        let mut sources = Self::default();
        let mut directories = vec![registry()];
        while let Some(directory) = directories.pop() {
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() {
                    directories.push(path);
                } else if sources.lines < lines {
                    sources.add(&path);
                }
            }
        }
        assert!(sources.lines >= lines, "cargo has downloaded {} lines only", sources.lines);
        sources
    }

    /// Returns the text files of a directory.
    pub fn of_directory(directory: &Path) -> Self {
        let mut sources = Self::default();
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.is_dir() => directories.push(path),
                    path => sources.add(&path),
                }
            }
        }
        sources.files.sort();
        sources
    }

    fn add(&mut self, path: &Path) {
        let name = path.to_string_lossy().into_owned();
        let is_source = [".rs", ".c", ".h", ".py", ".md", ".toml"]
            .iter()
            .any(|extension| name.ends_with(extension));
        if !is_source {
            return;
        }
        if let Ok(text) = fs::read_to_string(path)
            && text.len() <= FILE_BYTES_MAX
        {
            self.lines += text.lines().count() as u64;
            self.bytes += text.len() as u64;
            self.files.push((name.trim_start_matches('/').to_owned(), text));
        }
    }
}

/// Where cargo keeps the sources of crates.
fn registry() -> PathBuf {
    let home = option_env!("CARGO_HOME").map_or_else(
        || PathBuf::from(option_env!("HOME").unwrap_or("/root")).join(".cargo"),
        PathBuf::from,
    );
    home.join("registry/src")
}

/// Makes an index of files.
///
/// # Panics
///
/// If the index cannot be made.
pub fn built(sources: &Sources) -> Index {
    let mut builder = IndexBuilder::new();
    for (number, (path, text)) in sources.files.iter().enumerate() {
        let mut id = [0; 20];
        for (to, from) in id.iter_mut().zip(number.to_be_bytes()) {
            *to = from;
        }
        let blob = ObjectId::from_bytes(&id);
        let outline = source::outline(path, text);
        let file =
            blob.map(|blob| SourceFile { path: path.clone(), blob, text: text.clone(), outline });
        let added = file
            .map_err(|error| error.to_string())
            .and_then(|file| builder.add(file).map_err(|error| error.to_string()));
        assert!(added.is_ok(), "{added:?}");
    }
    let built = builder.finish().and_then(|built| Index::open(built.bytes));
    match built {
        Ok(index) => index,
        Err(error) => panic!("the index cannot be made: {error}"),
    }
}
