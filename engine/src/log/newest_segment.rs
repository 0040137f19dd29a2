//! How much of the newest segment is written: its file may end in zeros written ahead, which
//! records replace while others read it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::model::Lsn;

/// What has been written to the segment that a writer has open. Clones share their state.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewestSegment(Arc<Mutex<Option<Written>>>);

#[derive(Clone, Copy, Debug)]
struct Written {
    first: Lsn,
    /// Bytes of the header and of intact frames; zeros may follow.
    bytes: u64,
}

impl NewestSegment {
    /// Records that the segment that starts with `first` has so many bytes without the zeros.
    pub(super) fn note(&self, first: Lsn, bytes: u64) {
        *self.0.lock() = Some(Written { first, bytes });
    }

    /// Returns the bytes of `file`, the segment that starts with `first`. Of the segment being
    /// written these are the ones written by now, without the zeros after them.
    pub(crate) fn length_of(&self, first: Lsn, file: &Path) -> io::Result<u64> {
        let bytes = file.metadata()?.len();
        let written = self.0.lock().filter(|written| written.first == first);
        Ok(written.map_or(bytes, |written| written.bytes.min(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_segment_is_shorter_than_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [0; 100]).unwrap();
        let newest = NewestSegment::default();
        let length = |first| newest.length_of(Lsn(first), file.path()).unwrap();
        assert_eq!(length(7), 100, "as a process before this one has left it");
        newest.note(Lsn(7), 40);
        assert_eq!((length(7), length(3)), (40, 100));
        newest.note(Lsn(9), 20);
        assert_eq!((length(7), length(9)), (100, 20));
    }
}
