//! The input of an import: a file, a gzip-compressed file, or standard input. Positions in a
//! compressed file refer to the decompressed content. A byte order mark at the start is skipped,
//! but counts in positions.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// The path that means standard input.
pub(super) const STDIN: &str = "-";

/// The byte order mark of UTF-8, as spreadsheets write it.
const MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// How the bytes of a source are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// From a plain file.
    Plain,
    /// Decompressed from a file whose name ends in `.gz`.
    Gzip,
    /// From standard input, once.
    Stdin,
}

/// An input, and the position of its first byte.
pub(super) struct Opened<R> {
    pub(super) bytes: R,
    pub(super) at: u64,
}

/// The bytes of any input.
pub(super) type Bytes = Box<dyn Read>;

impl Input {
    pub(super) fn of(path: &Path) -> Self {
        if path == Path::new(STDIN) {
            Self::Stdin
        } else if is_packed(path) {
            Self::Gzip
        } else {
            Self::Plain
        }
    }

    /// Opens the source at this byte offset; at the start of the file, after a byte order mark.
    pub(super) fn open(self, path: &Path, byte: u64) -> io::Result<Opened<Bytes>> {
        let mut bytes: Bytes = match self {
            Self::Plain => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(byte))?;
                Box::new(file)
            }
            Self::Gzip => {
                let mut unpacked = MultiGzDecoder::new(BufReader::new(File::open(path)?));
                io::copy(&mut (&mut unpacked).take(byte), &mut io::sink())?;
                Box::new(unpacked)
            }
            Self::Stdin => Box::new(io::stdin()),
        };
        if byte > 0 {
            return Ok(Opened { bytes, at: byte });
        }
        let mut first = Vec::with_capacity(MARK.len());
        (&mut bytes).take(MARK.len() as u64).read_to_end(&mut first)?;
        if first == MARK {
            return Ok(Opened { bytes, at: MARK.len() as u64 });
        }
        Ok(Opened { bytes: Box::new(Cursor::new(first).chain(bytes)), at: 0 })
    }
}

/// Returns the path without the extension of compression: `x.csv` for `x.csv.gz`.
pub(super) fn unpacked_path(path: &Path) -> PathBuf {
    if is_packed(path) { path.with_extension("") } else { path.to_owned() }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn read(path: &Path, byte: u64) -> (String, u64) {
        let Opened { mut bytes, at } = Input::of(path).open(path, byte).unwrap();
        let mut text = String::new();
        bytes.read_to_string(&mut text).unwrap();
        (text, at)
    }

    #[test]
    fn files_are_read_compressed_or_not_with_a_mark_or_without() {
        let dir = tempfile::tempdir().unwrap();
        for (text, plain, at) in [("", "", 0), ("ab", "ab", 0), ("\u{feff}abc", "abc", 3)] {
            let (one, other) = (dir.path().join("x.csv"), dir.path().join("x.csv.GZ"));
            std::fs::write(&one, text).unwrap();
            let mut compressed = Vec::new();
            // Two gzip members, as `cat` produces them.
            for part in [text.as_bytes(), b"!"] {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(part).unwrap();
                compressed.extend(encoder.finish().unwrap());
            }
            std::fs::write(&other, compressed).unwrap();
            assert_eq!(read(&one, 0), (plain.to_owned(), at));
            assert_eq!(read(&other, 0), (format!("{plain}!"), at));
        }
        // The files written last have a mark of three bytes.
        assert_eq!(read(&dir.path().join("x.csv"), 4), ("bc".to_owned(), 4));
        assert_eq!(read(&dir.path().join("x.csv.GZ"), 4), ("bc!".to_owned(), 4));
    }

    #[test]
    fn a_compressed_file_has_the_path_of_its_content() {
        assert_eq!(unpacked_path(Path::new("a/x.csv.gz")), Path::new("a/x.csv"));
        assert_eq!(unpacked_path(Path::new("a.gz/x.csv")), Path::new("a.gz/x.csv"));
        assert_eq!(Input::of(Path::new("-")), Input::Stdin);
        assert_eq!(Input::of(Path::new("./-")), Input::Plain);
    }
}
