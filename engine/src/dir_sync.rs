//! Durability of directory entries, which a sync of the files themselves does not give.

use std::fs::File;
use std::io;
use std::path::Path;

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir).and_then(|dir| dir.sync_all())
}
