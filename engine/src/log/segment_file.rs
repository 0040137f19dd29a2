//! The file of the newest segment, and how groups of frames are written to it.
//!
//! # Durable writes
//!
//! Where a write must be on disk before it is acknowledged, the file is written in whole blocks,
//! with `O_DSYNC` and, where the file system accepts it, `O_DIRECT`: one system call writes and
//! syncs, and nothing is copied to the page cache. A file that grows also makes the file system
//! write its length and its extents, through a journal of its own, which takes longer than the
//! write itself. So zeros are written ahead, together with a group that needs more room; the groups
//! after it replace them:
//!
//! ```text
//! header │ frames, acknowledged │ group being written │ zeros
//!        └─ block ─┴─ block ─┴─ block ─┴─ block ─┴─ block ─┘
//!                           └───── one write ───┘
//! ```
//!
//! The first block of a write also contains the end of the previous group: its bytes are the same
//! as before, so a write that is torn between sectors does not change them. Zeros are what a lost
//! sector reads as: the rules of [`super::segment`] for torn writes hold as in a file that grows.
//!
//! # Cached writes
//!
//! Where the operating system decides when data reaches the disk, groups are appended to the file,
//! and synced if a writer asks for it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::writer::FileOps;
use crate::options::Durability;

/// The unit of durable writes: no file system has larger blocks than pages of memory.
const BLOCK_BYTES: u64 = 4_096;
/// The zeros written ahead are as many as the file has bytes, within these limits: a log that is
/// hardly used stays small.
const AHEAD_BYTES_MIN: u64 = 64 << 10;
const AHEAD_BYTES_MAX: u64 = 1 << 20;
/// Groups above this size get no zeros after them: beside their bytes the length of the file costs
/// little.
const LARGE_GROUP_BYTES: u64 = 256 << 10;
/// A buffer up to this capacity is kept for the next group.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// When the bytes of a group are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    /// When the call that writes them returns.
    Durable,
    /// When the operating system decides, or a sync is requested.
    Cached,
}

impl Writes {
    /// Returns how a log of this durability is written: one call that writes and syncs takes half
    /// the time of two.
    pub(super) fn of(durability: Durability) -> Self {
        match durability {
            Durability::Sync => Self::Durable,
            Durability::Interval(_) | Durability::Os => Self::Cached,
        }
    }
}

/// A file, open for writing at its end.
#[derive(Debug)]
pub(super) struct SegmentFile {
    file: Arc<File>,
    ops: FileOps,
    /// Bytes of the header and of intact frames.
    length: u64,
    /// `None` with [`Writes::Cached`].
    blocks: Option<Blocks>,
}

/// The state of a file that is written in whole blocks.
#[derive(Debug)]
struct Blocks {
    /// The length of the file: frames, and zeros after them.
    file_bytes: u64,
    /// The bytes in the block that the next group begins in.
    begun: Vec<u8>,
    /// The buffer of the previous group.
    buffer: Vec<u8>,
}

/// Frames that are written together.
#[derive(Debug)]
pub(super) struct Group {
    /// The frames, after bytes of the file that precede them.
    pub(super) bytes: Vec<u8>,
    /// The offset in the file that corresponds to the start of `bytes`, modulo 2^64.
    pub(super) origin: u64,
    /// The part of `bytes` that is not written.
    unused: usize,
    /// The offset in the file at which the write ends.
    until: u64,
}

impl SegmentFile {
    /// Creates a file that starts with `header`, or replaces it. The header is durable, the name
    /// of the file is not.
    pub(super) fn create(
        path: &Path,
        header: &[u8],
        writes: Writes,
        ops: FileOps,
    ) -> io::Result<Self> {
        let (file, blocks) = match writes {
            Writes::Durable => {
                let (file, blocks) = match create_blocks(path, header, direct()) {
                    // Not every file system can bypass the page cache, and not in blocks of 4 KB.
                    Err(e) if e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                        create_blocks(path, header, OFlags::empty())
                    }
                    created => created,
                }?;
                (file, Some(blocks))
            }
            Writes::Cached => {
                let mut file =
                    OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
                file.write_all(header)?;
                file.sync_data()?;
                (OpenOptions::new().append(true).open(path)?, None)
            }
        };
        Ok(Self { file: Arc::new(file), ops, length: header.len() as u64, blocks })
    }

    /// Returns the bytes of the header and of intact frames.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns whether a group of frames with this many bytes in total replaces zeros, or is only
    /// cached.
    pub(super) fn has_room(&self, frame_bytes: usize) -> bool {
        let end = self.length + frame_bytes as u64;
        self.blocks.as_ref().is_none_or(|blocks| end <= blocks.file_bytes)
    }

    /// Returns the file, to be synced by another thread.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Starts a group of frames with this many bytes in total.
    pub(super) fn start_group(&mut self, frame_bytes: usize) -> Group {
        let end = self.length + frame_bytes as u64;
        match &mut self.blocks {
            Some(blocks) => blocks.start_group(self.length, end),
            None => Group {
                bytes: Vec::with_capacity(frame_bytes),
                origin: self.length,
                unused: 0,
                until: end,
            },
        }
    }

    /// Writes a group, which is durable afterwards if `sync` is set. After an error any part of it
    /// may have been written.
    pub(super) fn append(&mut self, group: Group, sync: bool) -> io::Result<()> {
        let end = group.origin.wrapping_add(group.bytes.len() as u64);
        match &mut self.blocks {
            Some(blocks) => blocks.write(&self.file, &self.ops, group)?,
            None => {
                (&*self.file).write_all(&group.bytes)?;
                if sync {
                    self.ops.sync(&self.file)?;
                }
            }
        }
        self.length = end;
        Ok(())
    }

    /// Makes everything written durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.ops.sync(&self.file)
    }

    /// Cuts off what follows the intact frames: zeros, and what a failed write has left.
    pub(super) fn cut(&mut self) -> io::Result<()> {
        self.ops.cut(&self.file, self.length)?;
        if let Some(blocks) = &mut self.blocks {
            blocks.file_bytes = self.length;
        }
        Ok(())
    }

    /// Returns whether anything follows the intact frames, as far as no write has failed.
    pub(super) fn has_zeros(&self) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| blocks.file_bytes > self.length)
    }
}

impl Blocks {
    fn start_group(&mut self, length: u64, end: u64) -> Group {
        let block = length - length % BLOCK_BYTES;
        let overwrites = end <= self.file_bytes;
        let ahead = if overwrites || end - length > LARGE_GROUP_BYTES {
            0
        } else {
            end.clamp(AHEAD_BYTES_MIN, AHEAD_BYTES_MAX)
        };
        let until = (end + ahead).next_multiple_of(BLOCK_BYTES);
        let mut bytes = std::mem::take(&mut self.buffer);
        bytes.clear();
        // Nothing is added beyond this: the bytes keep their place in memory.
        bytes.reserve(BLOCK_BYTES as usize + (until - block) as usize);
        let unused = bytes.as_ptr().align_offset(BLOCK_BYTES as usize);
        bytes.resize(unused, 0);
        bytes.extend_from_slice(&self.begun);
        Group { bytes, origin: block.wrapping_sub(unused as u64), unused, until }
    }

    fn write(&mut self, file: &File, ops: &FileOps, group: Group) -> io::Result<()> {
        let Group { mut bytes, origin, unused, mut until } = group;
        let frames_end = bytes.len();
        let end = origin.wrapping_add(frames_end as u64);
        bytes.resize(until.wrapping_sub(origin) as usize, 0);
        let write = |bytes: &[u8]| {
            let blocks = bytes.get(unused..).unwrap_or_default();
            ops.write(file, blocks, origin.wrapping_add(unused as u64))
        };
        let needed = end.next_multiple_of(BLOCK_BYTES);
        match write(&bytes) {
            // There may be space for the frames, although not for zeros after them.
            Err(error) if lacks_space(&error) && needed < until => {
                until = needed;
                bytes.truncate(until.wrapping_sub(origin) as usize);
                write(&bytes)?;
            }
            outcome => outcome?,
        }
        self.file_bytes = self.file_bytes.max(until);
        self.begun.clear();
        let begun = frames_end - (end % BLOCK_BYTES) as usize..frames_end;
        self.begun.extend_from_slice(bytes.get(begun).unwrap_or_default());
        if bytes.capacity() <= BUFFER_BYTES_KEPT {
            self.buffer = bytes;
        }
        Ok(())
    }
}

fn lacks_space(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

/// Creates a file for durable writes that starts with `header`.
fn create_blocks(path: &Path, header: &[u8], direct: OFlags) -> io::Result<(File, Blocks)> {
    let flags = (OFlags::DSYNC | direct).bits() as i32;
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .custom_flags(flags)
        .open(path)?;
    let mut blocks = Blocks { file_bytes: 0, begun: Vec::new(), buffer: Vec::new() };
    let Group { mut bytes, unused, .. } = blocks.start_group(0, header.len() as u64);
    bytes.extend_from_slice(header);
    bytes.resize(unused + header.len().next_multiple_of(BLOCK_BYTES as usize), 0);
    file.write_all_at(bytes.get(unused..).unwrap_or_default(), 0)?;
    blocks.file_bytes = (bytes.len() - unused) as u64;
    let begun = header.len() - header.len() % BLOCK_BYTES as usize;
    blocks.begun.extend_from_slice(header.get(begun..).unwrap_or_default());
    Ok((file, blocks))
}

/// Returns the flag that bypasses the page cache, where there is one.
fn direct() -> OFlags {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    return OFlags::DIRECT;
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    return OFlags::empty();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::log::writer::testing::failing;

    const HEADER: [u8; 4_144] = [7; 4_144];

    fn append(file: &mut SegmentFile, frames: &[u8]) -> io::Result<()> {
        let mut group = file.start_group(frames.len());
        group.bytes.extend_from_slice(frames);
        file.append(group, true)
    }

    /// Returns the file without the zeros at its end.
    fn contents(path: &Path, length: usize) -> Vec<u8> {
        let mut bytes = std::fs::read(path).unwrap();
        assert!(bytes.iter().skip(length).all(|byte| *byte == 0), "zeros follow the frames");
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn a_file_that_is_hardly_used_stays_small_and_a_busy_one_seldom_grows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        let size = || std::fs::metadata(&path).unwrap().len();
        let mut file =
            SegmentFile::create(&path, &HEADER, Writes::Durable, FileOps::system()).unwrap();
        assert_eq!(size(), 8_192);
        append(&mut file, &[1; 100]).unwrap();
        assert_eq!(size(), 8_192, "there was room");
        append(&mut file, &[2; 5_000]).unwrap();
        assert!(size() <= AHEAD_BYTES_MIN + 16_384);
        let mut sizes = std::collections::BTreeSet::new();
        for _ in 0..600 {
            append(&mut file, &[3; 12_000]).unwrap();
            assert!(size() <= file.length() + AHEAD_BYTES_MAX + BLOCK_BYTES);
            sizes.insert(size());
        }
        assert!(sizes.len() < 20, "{}", sizes.len());
        let before = file.length();
        append(&mut file, &[4; 2 * LARGE_GROUP_BYTES as usize]).unwrap();
        append(&mut file, &[4; 8 * LARGE_GROUP_BYTES as usize]).unwrap();
        assert!(file.length() > before && size() < file.length() + BLOCK_BYTES);
        file.cut().unwrap();
        assert_eq!((size(), file.has_zeros()), (file.length(), false));
    }

    #[test]
    fn a_failed_write_is_cut_off_and_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        let (ops, faults) = failing();
        let mut file = SegmentFile::create(&path, &HEADER, Writes::Durable, ops).unwrap();
        append(&mut file, &[1; 3_000]).unwrap();
        faults.fail_syncs(1);
        assert!(append(&mut file, &[2; 9_000]).is_err());
        file.cut().unwrap();
        let whole = [&HEADER[..], &[1; 3_000]].concat();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        append(&mut file, &[3; 10]).unwrap();
        let whole = [&whole[..], &[3; 10]].concat();
        assert_eq!(contents(&path, whole.len()), whole);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn groups_follow_each_other_and_zeros_follow_them(
            sizes in proptest::collection::vec(
                prop_oneof![0usize..200, 3_900usize..4_300, 0usize..90_000, 250_000usize..300_000], 1..40,
            ),
            cuts in any::<u64>(),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("1.log");
            let mut file =
                SegmentFile::create(&path, &HEADER, Writes::Durable, FileOps::system()).unwrap();
            let mut whole = HEADER.to_vec();
            for (n, size) in sizes.into_iter().enumerate() {
                let frames = vec![n as u8 + 1; size];
                let file_bytes = || std::fs::metadata(&path).unwrap().len();
                let (has_room, before) = (file.has_room(size), file_bytes());
                append(&mut file, &frames).unwrap();
                prop_assert!(size == 0 || has_room == (file_bytes() == before));
                whole.extend_from_slice(&frames);
                prop_assert_eq!(file.length() as usize, whole.len());
                if cuts.rotate_right(n as u32) & 7 == 1 {
                    file.cut().unwrap();
                }
            }
            prop_assert_eq!(contents(&path, whole.len()), whole);
        }
    }
}
