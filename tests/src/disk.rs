//! A small disk that a test can fill: a file system in memory, mounted while the value exists.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A mounted file system of a few megabytes.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a disk of this size; `None` if this user may not mount.
    pub fn mount(megabytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(folder.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self { folder })
    }

    /// Returns the mount point.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills the disk with a file until only this many bytes are free. Returns the path of the
    /// file; removing it frees the space.
    #[track_caller]
    pub fn fill(&self, left_bytes: u64) -> PathBuf {
        self.fill_as("ballast", left_bytes)
    }

    /// Fills the remaining space, to the last byte, with another file.
    #[track_caller]
    pub fn fill_rest(&self) -> PathBuf {
        self.fill_as("rest", 0)
    }

    #[track_caller]
    fn fill_as(&self, name: &str, left_bytes: u64) -> PathBuf {
        let ballast = self.path().join(name);
        let chunk = vec![1_u8; 1 << 16];
        let filled = std::fs::File::create(&ballast).and_then(|mut file| {
            while file.write_all(&chunk).is_ok() {}
            let bytes = file.metadata()?.len();
            file.set_len(bytes.saturating_sub(left_bytes))
        });
        assert!(filled.is_ok(), "cannot fill the disk: {filled:?}");
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a killed server may have files open for a moment.
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) && !std::thread::panicking() {
            panic!("{} is still mounted", self.path().display());
        }
    }
}
