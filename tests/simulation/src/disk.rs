//! A simulated disk: a folder in memory whose calls are recorded and may fail.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::calls;
use crate::faults::{Call, Effect, Fault, FileKind};
use crate::image::{self, Loss};
use crate::random::Random;
use crate::state::{Decay, State};
use crate::tree::Tree;

/// Bytes of a sector, which decay may lose whole.
const SECTOR_BYTES: usize = 512;

/// A disk and the folder that shows it. The folder is deleted with it.
#[derive(Debug)]
pub struct Disk {
    shared: Arc<Shared>,
    _folder: tempfile::TempDir,
}

/// A disk as calls find it.
#[derive(Debug)]
pub(crate) struct Shared {
    root: PathBuf,
    state: Mutex<State>,
}

impl Shared {
    /// The path below the root, when it lies there.
    pub(crate) fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(self.root.to_str()?)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A test that fails elsewhere must not hide its reason behind this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk {
    /// An empty disk whose luck is decided by `seed`.
    pub fn new(seed: u64) -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }?;
        let root = folder.path().canonicalize()?;
        let shared = Arc::new(Shared { root, state: Mutex::new(State::new(seed)) });
        calls::watch(&shared);
        Ok(Self { shared, _folder: folder })
    }

    /// The folder that shows the disk.
    pub fn root(&self) -> &Path {
        &self.shared.root
    }

    /// Adds a fault that waits for its call.
    pub fn arm(&self, fault: Fault) {
        self.shared.lock().faults.push(fault);
    }

    /// Forgets the faults that have not struck yet.
    pub fn disarm(&self) {
        self.shared.lock().faults.clear();
    }

    /// Ends the machine, or the process: nothing changes on the disk any more.
    pub fn stop(&self) {
        self.shared.lock().stopped = true;
    }

    /// Whether the machine, or the process, has ended.
    pub fn is_stopped(&self) -> bool {
        self.shared.lock().stopped
    }

    /// Goes on after a kill: the disk holds all that was written, synced or not, and what was not may still be lost to
    /// a power loss. Whoever used the disk before must have closed its files.
    pub fn restart(&self) {
        let mut state = self.shared.lock();
        state.faults.clear();
        state.stopped = false;
    }

    /// Goes on after a power loss: of what was not synced any part is lost. Whoever used the disk before must have closed its
    /// files.
    pub fn lose_power(&self, random: &mut Random, loss: Loss) -> io::Result<()> {
        let content = {
            let state = self.shared.lock();
            state.tree.after_power_loss(random, loss.order())
        };
        calls::unwatched(|| image::replace(&self.shared.root, &content))?;
        let mut state = self.shared.lock();
        state.tree = Tree::of(&content);
        state.open.clear();
        state.faults.clear();
        state.stopped = false;
        Ok(())
    }

    /// Flips a bit or zeroes a sector of a file of this kind that holds anything; none when there is no such file.
    pub fn decay(&self, random: &mut Random, kind: FileKind) -> io::Result<Option<Decay>> {
        let mut content = calls::unwatched(|| image::read(&self.shared.root))?;
        let of_kind = |(path, bytes): (&String, &Option<Vec<u8>>)| {
            let long = bytes.as_ref().is_some_and(|bytes| !bytes.is_empty());
            (long && FileKind::of(path) == kind).then(|| path.clone())
        };
        let paths: Vec<String> = content.iter().filter_map(of_kind).collect();
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
        calls::unwatched(|| std::fs::write(path, &*bytes))?;
        if let Some(node) = state.tree.find(&decay.path)
            && let Some(inode) = state.tree.file_mut(node)
        {
            inode.decay(std::mem::take(bytes));
        }
        Ok(Some(decay))
    }

    /// The faults that struck, in their order.
    pub fn journal(&self) -> Vec<String> {
        self.shared.lock().journal.clone()
    }

    /// How often faults struck.
    pub fn strikes(&self) -> u64 {
        self.shared.lock().struck.values().sum()
    }

    /// How often faults of each kind struck.
    pub fn struck(&self) -> BTreeMap<(FileKind, Call, Effect), u64> {
        self.shared.lock().struck.clone()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The folder is removed after this, by calls that are not simulated any more.
        calls::forget(&self.shared);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};
    use std::io::Write as _;

    use super::*;
    use crate::faults::Errno;

    fn disk() -> Disk {
        Disk::new(1).unwrap()
    }

    /// Loses the power often, and collects what the file `name` holds then.
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

    fn sync_folder(path: &Path) {
        File::open(path).unwrap().sync_all().unwrap();
    }

    #[test]
    fn what_was_synced_with_its_name_survives_a_power_loss() {
        let write = |root: &Path| {
            let mut file = File::create(root.join("a")).unwrap();
            file.write_all(b"first").unwrap();
            file.sync_data().unwrap();
            sync_folder(root);
            file.write_all(b" second").unwrap();
        };
        let contents = contents_after_power_loss(write, "a");
        assert!(contents.iter().all(|content| content.as_deref().unwrap().starts_with(b"first")));
        assert!(contents.contains(&Some(b"first".to_vec())));
        assert!(contents.contains(&Some(b"first second".to_vec())));
    }

    #[test]
    fn a_name_that_was_not_synced_may_be_lost() {
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
    fn a_copy_a_rename_and_an_append_are_seen() {
        let write = |root: &Path| {
            fs::write(root.join("a"), b"first").unwrap();
            fs::create_dir(root.join("folder")).unwrap();
            fs::copy(root.join("a"), root.join("folder/b")).unwrap();
            fs::rename(root.join("folder/b"), root.join("folder/c")).unwrap();
            let c = root.join("folder/c");
            let mut file = OpenOptions::new().append(true).open(&c).unwrap();
            file.write_all(b" second").unwrap();
            file.sync_all().unwrap();
            sync_folder(&root.join("folder"));
            sync_folder(root);
        };
        let contents = contents_after_power_loss(write, "folder/c");
        assert!(contents.iter().all(|c| c.as_deref() == Some(b"first second")), "{contents:?}");
    }

    #[test]
    fn nothing_changes_a_disk_that_was_stopped_and_a_restart_keeps_all() {
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
        assert_eq!((disk.strikes(), disk.journal().len()), (6, 6));
    }

    #[test]
    fn decay_changes_one_place_of_one_file() {
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
