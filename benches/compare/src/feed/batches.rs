//! Splits a file into requests before the measurement starts.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::outcome::Outcome;

/// The location of a request body in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) points: u64,
}

/// Text around the lines of a body.
#[derive(Clone, Copy)]
pub(crate) struct Wrap {
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
    /// Bytes at the end of the last line that are left out.
    pub(crate) cut: usize,
}

impl Wrap {
    pub(crate) const NOTHING: Self = Self { before: "", after: "", cut: 0 };
}

/// Returns requests of `per_request` lines with `points_per_line` points each.
pub(crate) fn lines(path: &Path, per_request: usize, points_per_line: u64) -> Outcome<Vec<Batch>> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 8 << 20];
    let mut batches = Vec::new();
    let (mut position, mut start, mut count) = (0, 0, 0);
    let mut cut = |end: u64, start: &mut u64, count: &mut usize| {
        let (bytes, points) = ((end - *start) as usize, *count as u64 * points_per_line);
        batches.push(Batch { offset: *start, bytes, points });
        (*start, *count) = (end, 0);
    };
    loop {
        let read = file.read(&mut buffer)?;
        let Some(read) = buffer.get(..read).filter(|read| !read.is_empty()) else { break };
        for at in memchr::memchr_iter(b'\n', read) {
            count += 1;
            if count == per_request {
                cut(position + at as u64 + 1, &mut start, &mut count);
            }
        }
        position += read.len() as u64;
    }
    if count > 0 {
        cut(position, &mut start, &mut count);
    }
    Ok(batches)
}

/// Returns the requests of a file that contains their lengths and numbers of points. Reads the
/// bodies too, so that they are in the page cache when they are sent.
pub(crate) fn frames(path: &Path) -> Outcome<Vec<Batch>> {
    let file = File::open(path)?;
    let end = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut batches, mut offset, mut body) = (Vec::new(), 0, Vec::new());
    while offset < end {
        let (mut bytes, mut points) = ([0; 4], [0; 4]);
        reader.read_exact(&mut bytes)?;
        reader.read_exact(&mut points)?;
        let (bytes, points) = (u32::from_le_bytes(bytes), u32::from_le_bytes(points));
        batches.push(Batch { offset: offset + 8, bytes: bytes as usize, points: points.into() });
        body.clear();
        (&mut reader).take(bytes.into()).read_to_end(&mut body)?;
        offset += 8 + u64::from(bytes);
    }
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file(bytes: &[u8], cut: impl Fn(&Path) -> Outcome<Vec<Batch>>) -> Vec<Batch> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests");
        std::fs::write(&path, bytes).unwrap();
        cut(&path).unwrap()
    }

    #[test]
    fn lines_are_split_into_full_requests_and_a_remainder() {
        let batch = |offset, bytes, points| Batch { offset, bytes, points };
        assert_eq!(
            in_file(b"a\nbb\nccc\nd\ne\n", |path| lines(path, 2, 10)),
            [batch(0, 5, 20), batch(5, 6, 20), batch(11, 2, 10)]
        );
        assert_eq!(in_file(b"a\nb\n", |path| lines(path, 2, 1)), [batch(0, 4, 2)]);
        assert_eq!(in_file(b"", |path| lines(path, 2, 1)), []);
    }

    #[test]
    fn frames_are_delimited_by_their_lengths() {
        let bytes = b"\x02\0\0\0\x07\0\0\0ab\x01\0\0\0\x09\0\0\0c";
        let batch = |offset, bytes, points| Batch { offset, bytes, points };
        assert_eq!(in_file(bytes, frames), [batch(8, 2, 7), batch(18, 1, 9)]);
    }
}
