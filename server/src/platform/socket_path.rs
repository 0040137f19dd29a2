//! Unix socket paths of any length. A socket address holds at most 107 bytes; a longer path is
//! replaced by one through `/proc/self/fd` and the open directory of the socket.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of a path in the address of a Unix socket on Linux, without the terminating NUL. Other
/// systems may allow fewer.
const ADDRESS_BYTES_MAX: usize = 107;

/// A path for binding or connecting a socket, valid while this value exists.
#[derive(Debug)]
pub(crate) struct SocketPath {
    path: PathBuf,
    /// The open directory that the path in `/proc` refers to.
    _folder: Option<File>,
}

impl SocketPath {
    /// Returns a path to the same file as `path` that fits. Fails if the directory cannot be
    /// opened.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().len() <= ADDRESS_BYTES_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path is not that of a socket",
            ));
        };
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    /// Returns the path that fits.
    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn sockets_can_be_bound_and_connected_under_paths_of_any_length() {
        let dir = tempfile::tempdir().unwrap();
        for depth in 0..4 {
            let folder = dir.path().join("a-folder-of-some-length-that-adds-up/".repeat(depth));
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join("control.sock");
            let _listener = UnixListener::bind(SocketPath::new(&path).unwrap().as_path()).unwrap();
            assert!(path.symlink_metadata().is_ok(), "it is where the path says");
            UnixStream::connect(SocketPath::new(&path).unwrap().as_path()).unwrap();
        }
        let nowhere = dir.path().join("x".repeat(120)).join("control.sock");
        assert_eq!(SocketPath::new(&nowhere).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
