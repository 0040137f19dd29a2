//! A simulated disk: a directory in memory whose calls are recorded and may fail.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::calls;
use crate::faults::{Call, Effect, Fault, FileKind};
use crate::image::{self, Loss};
use crate::random::Random;
use crate::state::{Decay, DiskState};
use crate::tree::Tree;

/// Bytes of a sector, the unit that decay zeroes.
const SECTOR_BYTES: usize = 512;

/// A disk and the directory that contains its files. The directory is deleted with it.
#[derive(Debug)]
pub struct Disk {
    shared: Arc<SharedDisk>,
    _dir: tempfile::TempDir,
}

/// A disk, shared with the system calls.
#[derive(Debug)]
pub(crate) struct SharedDisk {
    root: PathBuf,
    state: Mutex<DiskState>,
}

impl SharedDisk {
    /// Returns the path below the root, or `None` if `path` is not below it.
    pub(crate) fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(self.root.to_str()?)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, DiskState> {
        // A test that fails elsewhere must not hide its reason behind this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk {
    /// Creates an empty disk whose random behaviour is determined by `seed`.
    pub fn new(seed: u64) -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }?;
        let root = dir.path().canonicalize()?;
        let shared = Arc::new(SharedDisk { root, state: Mutex::new(DiskState::new(seed)) });
        calls::register(&shared);
        Ok(Self { shared, _dir: dir })
    }

    /// Returns the directory that contains the files of the disk.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Adds a fault, which strikes a later call.
    pub fn arm(&self, fault: Fault) {
        self.shared.lock().faults.push(fault);
    }

    /// Removes the faults that have not struck yet.
    pub fn disarm(&self) {
        self.shared.lock().faults.clear();
    }

    /// Stops the machine or the process: nothing changes on the disk any more.
    pub fn stop(&self) {
        self.shared.lock().stopped = true;
    }

    /// Returns whether the machine or the process has stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.lock().stopped
    }

    /// Continues after a kill: the disk contains everything written, synced or not, and unsynced
    /// data may still be lost in a power loss. Earlier users of the disk must have closed their
    /// files.
    pub fn restart(&self) {
        let mut state = self.shared.lock();
        state.faults.clear();
        state.stopped = false;
    }

    /// Continues after a power loss: any part of the unsynced data is lost. Earlier users of the
    /// disk must have closed their files.
    pub fn lose_power(&self, random: &mut Random, loss: Loss) -> io::Result<()> {
        let content = {
            let state = self.shared.lock();
            state.tree.after_power_loss(random, loss.order())
        };
        calls::bypass(|| image::replace(&self.shared.root, &content))?;
        let mut state = self.shared.lock();
        state.tree = Tree::of(&content);
        state.open.clear();
        state.faults.clear();
        state.stopped = false;
        Ok(())
    }

    /// Flips a bit or zeroes a sector of a non-empty file of this kind. Returns `None` if there is
    /// no such file.
    pub fn decay(&self, random: &mut Random, kind: FileKind) -> io::Result<Option<Decay>> {
        let mut content = calls::bypass(|| image::read(&self.shared.root))?;
        let path_if_kind = |(path, bytes): (&String, &Option<Vec<u8>>)| {
            let has_bytes = bytes.as_ref().is_some_and(|bytes| !bytes.is_empty());
            (has_bytes && FileKind::of(path) == kind).then(|| path.clone())
        };
        let paths: Vec<String> = content.iter().filter_map(path_if_kind).collect();
        if paths.is_empty() {
            return Ok(None);
        }
        let path = random.pick(&paths).clone();
        let Some(Some(bytes)) = content.get_mut(&path) else { return Ok(None) };
        let mut decay = Decay { path, offset: random.index(bytes.len()), zeroed: 0 };
        if random.percent(60) {
            bytes[decay.offset] ^= 1 << random.below(8);
        } else {
            decay.offset -= decay.offset % SECTOR_BYTES;
            let end = (decay.offset + SECTOR_BYTES).min(bytes.len());
            decay.zeroed = end - decay.offset;
            bytes[decay.offset..end].fill(0);
        }
        let mut state = self.shared.lock();
        let path = self.shared.root.join(decay.path.trim_start_matches('/'));
        calls::bypass(|| std::fs::write(path, &*bytes))?;
        if let Some(node) = state.tree.find(&decay.path)
            && let Some(inode) = state.tree.file_mut(node)
        {
            inode.decay(std::mem::take(bytes));
        }
        Ok(Some(decay))
    }

    /// Returns the faults that struck, in order.
    pub fn journal(&self) -> Vec<String> {
        self.shared.lock().journal.clone()
    }

    /// Returns how many faults struck.
    pub fn faults_struck(&self) -> u64 {
        self.shared.lock().struck.values().sum()
    }

    /// Returns how many faults of each kind struck.
    pub fn faults_by_kind(&self) -> BTreeMap<(FileKind, Call, Effect), u64> {
        self.shared.lock().struck.clone()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The directory is removed after this, by calls that are no longer simulated.
        calls::unregister(&self.shared);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    use super::*;
    use crate::faults::Errno;

    fn disk() -> Disk {
        Disk::new(1).unwrap()
    }

    /// Loses power many times, and returns what the file `name` contains each time.
    fn contents_after_power_loss(prepare: impl Fn(&Path), name: &str) -> Vec<Option<Vec<u8>>> {
        let mut contents = Vec::new();
        for seed in 0..30 {
            let disk = Disk::new(seed).unwrap();
            prepare(disk.root());
            disk.stop();
            disk.lose_power(&mut Random::new(seed), Loss::Journal).unwrap();
            contents.push(fs::read(disk.root().join(name)).ok());
        }
        contents
    }

    fn sync_dir(path: &Path) {
        File::open(path).unwrap().sync_all().unwrap();
    }

    #[test]
    fn content_synced_with_its_name_survives_a_power_loss() {
        let write = |root: &Path| {
            let mut file = File::create(root.join("a")).unwrap();
            file.write_all(b"first").unwrap();
            file.sync_data().unwrap();
            sync_dir(root);
            file.write_all(b" second").unwrap();
        };
        let contents = contents_after_power_loss(write, "a");
        assert!(contents.iter().all(|content| content.as_deref().unwrap().starts_with(b"first")));
        assert!(contents.contains(&Some(b"first".to_vec())));
        assert!(contents.contains(&Some(b"first second".to_vec())));
    }

    #[test]
    fn writes_with_o_dsync_are_synced_and_fail_with_a_sync() {
        let create = |root: &Path| {
            let mut options = OpenOptions::new();
            options.create(true).write(true).custom_flags(libc::O_DSYNC);
            options.open(root.join("a")).unwrap()
        };
        let write = |root: &Path| {
            create(root).write_all(b"first").unwrap();
            sync_dir(root);
        };
        let contents = contents_after_power_loss(write, "a");
        assert!(contents.iter().all(|c| c.as_deref() == Some(b"first")), "{contents:?}");
        let disk = disk();
        let mut file = create(disk.root());
        let (call, effect) = (Some(Call::Sync), Effect::Fail(Errno::Io));
        disk.arm(Fault { kind: None, call, after: 0, times: 1, effect });
        assert!(file.write_all(b"first").is_err());
        file.write_all(b"second").unwrap();
    }

    #[test]
    fn an_unsynced_name_may_be_lost() {
        let write = |root: &Path| {
            let mut file = File::create(root.join("a")).unwrap();
            file.write_all(b"first").unwrap();
            file.sync_data().unwrap();
        };
        let contents = contents_after_power_loss(write, "a");
        assert!(contents.contains(&None));
        assert!(contents.contains(&Some(b"first".to_vec())));
    }

    #[test]
    fn copies_renames_and_appends_are_recorded() {
        let write = |root: &Path| {
            fs::write(root.join("a"), b"first").unwrap();
            fs::create_dir(root.join("dir")).unwrap();
            fs::copy(root.join("a"), root.join("dir/b")).unwrap();
            fs::rename(root.join("dir/b"), root.join("dir/c")).unwrap();
            let c = root.join("dir/c");
            let mut file = OpenOptions::new().append(true).open(&c).unwrap();
            file.write_all(b" second").unwrap();
            file.sync_all().unwrap();
            sync_dir(&root.join("dir"));
            sync_dir(root);
        };
        let contents = contents_after_power_loss(write, "dir/c");
        assert!(contents.iter().all(|c| c.as_deref() == Some(b"first second")), "{contents:?}");
    }

    #[test]
    fn a_stopped_disk_does_not_change_and_a_restart_keeps_everything() {
        let disk = disk();
        let path = disk.root().join("a");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"first").unwrap();
        disk.stop();
        assert!(file.write_all(b" second").is_err() && file.sync_data().is_err());
        assert!(File::create(disk.root().join("b")).is_err() && fs::remove_file(&path).is_err());
        drop(file);
        disk.restart();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn faults_strike_the_call_that_they_name() {
        let disk = disk();
        let arm = |call, after, effect| {
            disk.arm(Fault { kind: None, call: Some(call), after, times: 1, effect });
        };
        let mut file = File::create(disk.root().join("a")).unwrap();
        arm(Call::Write, 1, Effect::Fail(Errno::NoSpace));
        file.write_all(b"first").unwrap();
        let full = file.write_all(b"second").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        arm(Call::Write, 0, Effect::Short);
        arm(Call::Write, 1, Effect::Fail(Errno::Interrupted));
        file.write_all(b" second").unwrap();
        arm(Call::Sync, 0, Effect::Fail(Errno::Io));
        assert!(file.sync_data().is_err());
        file.sync_data().unwrap();
        assert_eq!(fs::read(disk.root().join("a")).unwrap(), b"first second");
        arm(Call::Create, 0, Effect::Fail(Errno::TooManyFiles));
        assert!(File::create(disk.root().join("b")).is_err());
        arm(Call::Write, 0, Effect::Stop);
        assert!(file.write_all(b" third").is_err() && disk.is_stopped());
        assert_eq!((disk.faults_struck(), disk.journal().len()), (6, 6));
    }

    #[test]
    fn decay_changes_one_part_of_one_file() {
        let disk = disk();
        fs::write(disk.root().join("a.log"), [7; 2_000]).unwrap();
        fs::write(disk.root().join("b.sst"), [7; 2_000]).unwrap();
        let decay = disk.decay(&mut Random::new(1), FileKind::Table).unwrap().unwrap();
        assert_eq!(decay.path, "/b.sst");
        assert_eq!(fs::read(disk.root().join("a.log")).unwrap(), [7; 2_000]);
        let bytes = fs::read(disk.root().join("b.sst")).unwrap();
        let changed = bytes.iter().filter(|byte| **byte != 7).count();
        assert!(bytes[decay.offset] != 7 && changed == decay.zeroed.max(1));
        assert_eq!(disk.decay(&mut Random::new(1), FileKind::Manifest).unwrap(), None);
    }
}
