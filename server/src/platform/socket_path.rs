//! Paths of Unix sockets of any length. The system takes at most 107 bytes in the address of a socket; a longer path is taken
//! through the open folder of the socket, which has a short name of its own in `/proc`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of a path in the address of a Unix socket on Linux, without the zero behind it. Elsewhere it may be fewer.
const ADDRESS_BYTES_MAX: usize = 107;

/// A path by which a socket can be made or found, as long as this is there.
#[derive(Debug)]
pub(crate) struct SocketPath {
    path: PathBuf,
    /// Keeps the short name of the folder.
    _folder: Option<File>,
}

impl SocketPath {
    /// The same place as `path`, with a name that fits. Fails when the folder cannot be opened.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().len() <= ADDRESS_BYTES_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no socket"));
        };
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    /// The name that fits.
    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn sockets_are_made_and_found_under_paths_of_any_length() {
        let dir = tempfile::tempdir().unwrap();
        for depth in 0..4 {
            let folder = dir.path().join("a-folder-of-some-length-that-adds-up/".repeat(depth));
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join("control.sock");
            let _listener = UnixListener::bind(SocketPath::new(&path).unwrap().as_path()).unwrap();
            assert!(path.symlink_metadata().is_ok(), "it is where it was asked for");
            UnixStream::connect(SocketPath::new(&path).unwrap().as_path()).unwrap();
        }
        let nowhere = dir.path().join("x".repeat(120)).join("control.sock");
        assert_eq!(SocketPath::new(&nowhere).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
