//! The manifest of the database and its copy.
//!
//! The manifest lists the tables. It is append-only, so it has no parity but a copy, refreshed at
//! each check: `MANIFEST-<n>` among the guards.
//!
//! ```text
//! "TTMANIF1" │ XXH3-64 of the rest: u64 │ bytes of the manifest: u64 │ the manifest, compressed
//! with Zstandard; if it is longer than 64 KB, and in copies of earlier versions: the manifest │
//! its XXH3-64: u64
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::guards::{GUARDS_DIR, Guards, paths_in};

/// What a compressed copy begins with. Others begin with a record of RocksDB, whose seventh byte is
/// a small number.
const MAGIC: &[u8; 8] = b"TTMANIF1";
/// Offsets of the length of the manifest in a compressed copy, and of the manifest.
const LENGTH_OFFSET: u64 = 16;
const PACKED_OFFSET: u64 = 24;
/// Length of the checksum that ends other copies.
const TAIL_BYTES: u64 = 8;
/// Bytes of the longest manifest whose copy is compressed: this only matters to small databases,
/// and the copy of a long manifest is written often.
const COMPRESSED_BYTES_MAX: usize = 64 << 10;
/// Level of Zstandard.
const COMPRESSION: i32 = 9;

/// What [`Guards::copy_manifest`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(in super::super) enum ManifestCopy {
    /// The copy is that of the manifest as it is now.
    Updated,
    /// The manifest has not grown, or it is unknown how much of it is on disk.
    Kept,
    /// The manifest is damaged: it does not start with its copy, which is kept.
    Differs,
    /// `CURRENT` is damaged or missing: it names no manifest.
    Unnamed,
}

impl Guards {
    /// Returns the length of the manifest in bytes, zero if there is none: then
    /// [`Self::copy_manifest`] says so.
    pub(in super::super) fn manifest_bytes(&self) -> io::Result<u64> {
        current_manifest(&self.db).map_or(Ok(0), |path| Ok(fs::metadata(path)?.len()))
    }

    /// Copies the manifest if it grew since the last copy. `is_in_force` is called after its bytes
    /// were read and synced: after a failed sync it is unknown which of them are on disk, and a
    /// copy with more bytes than the manifest would indicate damage where there is none. The
    /// database must be open.
    pub(in super::super) fn copy_manifest(
        &self,
        is_in_force: impl FnOnce() -> bool,
    ) -> io::Result<ManifestCopy> {
        // The second time because RocksDB may just have replaced and deleted a manifest.
        let named = current_manifest(&self.db).or_else(|| current_manifest(&self.db));
        let Some(manifest) = named else { return Ok(ManifestCopy::Unnamed) };
        let Some(name) = manifest.file_name() else {
            unreachable!("the path of a manifest ends in the name that it was found by")
        };
        let folder = self.db.join(GUARDS_DIR);
        let copy = folder.join(name);
        let bytes = fs::metadata(&manifest)?.len();
        // A copy whose length cannot be read is compared below.
        if stated_length(&copy).is_ok_and(|copied| copied == bytes) {
            return Ok(ManifestCopy::Kept);
        }
        if !folder.exists() {
            fs::create_dir_all(&folder)?;
            File::open(&self.db)?.sync_all()?;
        }
        let content = fs::read(&manifest)?;
        // The manifest is append-only: if it differs from the copy it is damaged, and the copy is
        // needed to repair it.
        if let Some(earlier) = read_copy(&copy)
            && !content.starts_with(&earlier)
        {
            return Ok(ManifestCopy::Differs);
        }
        File::open(&manifest)?.sync_data()?;
        if !is_in_force() {
            return Ok(ManifestCopy::Kept);
        }
        let new = folder.join("MANIFEST.new");
        // Synced: a manifest without a copy means that its start was killed before it acknowledged
        // anything.
        let mut file = File::create(&new)?;
        file.write_all(&encode_copy(content)?)?;
        file.sync_all()?;
        fs::rename(new, &copy)?;
        File::open(&folder)?.sync_all()?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let other = entry.file_name();
            if other != *name && other.to_string_lossy().starts_with("MANIFEST-") {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(ManifestCopy::Updated)
    }

    /// Returns the length of the copy of the current manifest, or `None` if there is no valid copy.
    pub(in super::super) fn copied_bytes(&self) -> Option<usize> {
        let manifest = current_manifest(&self.db)?;
        let copy = self.db.join(GUARDS_DIR).join(manifest.file_name()?);
        read_copy(&copy).map(|copy| copy.len())
    }

    /// Restores the manifest from its copy, keeping what was appended since. Returns whether
    /// anything changed.
    pub(in super::super) fn repair_manifest(&self) -> io::Result<bool> {
        for path in paths_in(&self.db.join(GUARDS_DIR))? {
            let Some(name) = path.file_name() else { continue };
            if !name.to_string_lossy().starts_with("MANIFEST-") {
                continue;
            }
            let Some(copy) = read_copy(&path) else { continue };
            let manifest = self.db.join(name);
            // One that is missing or cannot be read at all is restored as well.
            let now = fs::read(&manifest).unwrap_or_default();
            let same = now.get(..copy.len()).is_some_and(|head| head == copy.as_slice());
            let newest = manifests(&self.db)?.into_iter().max();
            // A newer manifest starts with everything that the older ones contain.
            if same || newest.is_some_and(|newest| newest > manifest) {
                continue;
            }
            let file = File::options().write(true).create(true).truncate(false).open(&manifest)?;
            file.write_all_at(&copy, 0)?;
            file.sync_all()?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Returns the length of the manifest in a copy according to the copy, which may be damaged.
fn stated_length(copy: &Path) -> io::Result<u64> {
    let file = File::open(copy)?;
    let mut magic = [0; MAGIC.len()];
    file.read_exact_at(&mut magic, 0)?;
    if magic != *MAGIC {
        return Ok(file.metadata()?.len().saturating_sub(TAIL_BYTES));
    }
    let mut length = [0; (PACKED_OFFSET - LENGTH_OFFSET) as usize];
    file.read_exact_at(&mut length, LENGTH_OFFSET)?;
    Ok(u64::from_le_bytes(length))
}

/// Returns the contents of the copy of a manifest.
fn encode_copy(mut manifest: Vec<u8>) -> io::Result<Vec<u8>> {
    if manifest.len() > COMPRESSED_BYTES_MAX {
        manifest.extend_from_slice(&xxh3_64(&manifest).to_le_bytes());
        return Ok(manifest);
    }
    let mut rest = (manifest.len() as u64).to_le_bytes().to_vec();
    rest.extend(zstd::bulk::compress(&manifest, COMPRESSION)?);
    Ok([MAGIC, &xxh3_64(&rest).to_le_bytes()[..], &rest].concat())
}

/// Reads the copy of a manifest. Returns `None` if there is none or it is damaged: its owner then
/// does without it or writes a new one.
pub(in super::super) fn read_copy(path: &Path) -> Option<Vec<u8>> {
    let why = match fs::read(path).map(whole_copy) {
        Ok(Some(copy)) => return Some(copy),
        Ok(None) => "its checksum is wrong".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => error.to_string(),
    };
    tracing::warn!(why, path = %path.display(), "the copy of the database's manifest is damaged");
    None
}

/// Returns the manifest in a copy, or `None` if the copy is damaged.
fn whole_copy(copy: Vec<u8>) -> Option<Vec<u8>> {
    let Some(rest) = copy.strip_prefix(MAGIC) else { return whole_plain_copy(copy) };
    let (sum, rest) = rest.split_first_chunk()?;
    if u64::from_le_bytes(*sum) != xxh3_64(rest) {
        return None;
    }
    let (length, packed) = rest.split_first_chunk()?;
    let manifest = zstd::bulk::decompress(packed, COMPRESSED_BYTES_MAX).ok()?;
    (manifest.len() as u64 == u64::from_le_bytes(*length)).then_some(manifest)
}

fn whole_plain_copy(mut copy: Vec<u8>) -> Option<Vec<u8>> {
    let (content, sum) = copy.split_last_chunk::<{ TAIL_BYTES as usize }>()?;
    let length = (u64::from_le_bytes(*sum) == xxh3_64(content)).then_some(content.len())?;
    copy.truncate(length);
    Some(copy)
}

/// Returns the manifests in the directory of a database.
pub(in super::super) fn manifests(db: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = paths_in(db)?;
    paths.retain(|path| manifest_number(path).is_some());
    Ok(paths)
}

/// Returns the number in the name of a manifest, or `None` if the name is not that of one.
pub(in super::super) fn manifest_number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("MANIFEST-")?.parse().ok()
}

/// Returns the manifest that `CURRENT` names, or `None` if that file or the manifest is missing or
/// damaged: an open then repairs it.
pub(in super::super) fn current_manifest(db: &Path) -> Option<PathBuf> {
    let current = match fs::read(db.join("CURRENT")) {
        Ok(current) => String::from_utf8(current).ok()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(%error, "the database's file CURRENT cannot be read");
            return None;
        }
    };
    let path = db.join(current.strip_suffix('\n')?);
    let is_inside = path.parent() == Some(db) && path.exists();
    (is_inside && manifest_number(&path).is_some()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_copy_has_golden_bytes() {
        let copy = encode_copy(b"manifest".to_vec()).unwrap();
        assert_eq!(copy.get(..8), Some(&b"TTMANIF1"[..]));
        assert_eq!(copy.get(8..16), Some(&xxh3_64(&copy[16..]).to_le_bytes()[..]));
        assert_eq!(copy.get(16..24), Some(&[8, 0, 0, 0, 0, 0, 0, 0][..]));
        assert_eq!(zstd::bulk::decompress(&copy[24..], 100).unwrap(), b"manifest");
    }

    #[test]
    fn a_copy_contains_the_manifest_or_is_known_to_be_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("MANIFEST-000001");
        for bytes in [0, 1, 5_000, COMPRESSED_BYTES_MAX, COMPRESSED_BYTES_MAX + 1] {
            let manifest: Vec<u8> = (0..bytes).map(|n| (n / 7) as u8).collect();
            let copy = encode_copy(manifest.clone()).unwrap();
            assert_eq!(copy.starts_with(MAGIC), bytes <= COMPRESSED_BYTES_MAX);
            fs::write(&path, &copy).unwrap();
            assert_eq!(stated_length(&path).unwrap(), bytes as u64);
            assert_eq!(read_copy(&path), Some(manifest));
            for at in (0..copy.len()).step_by(copy.len() / 100 + 1) {
                let mut damaged = copy.clone();
                damaged[at] ^= 1 << (at % 8);
                assert_eq!(whole_copy(damaged), None, "{at} of {}", copy.len());
                assert_eq!(whole_copy(copy[..at].to_vec()), None, "{at} of {}", copy.len());
            }
        }
    }

    #[test]
    fn copies_of_earlier_versions_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("MANIFEST-000001");
        let manifest = b"\x01\x02\x03\x04\x10\0\x01and so on".to_vec();
        let sum = xxh3_64(&manifest).to_le_bytes();
        fs::write(&path, [&manifest[..], &sum].concat()).unwrap();
        assert_eq!(stated_length(&path).unwrap(), manifest.len() as u64);
        assert_eq!(read_copy(&path), Some(manifest));
    }
}
