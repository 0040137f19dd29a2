//! Copies the contents of a disk from and to real files.

use std::fs;
use std::io;
use std::path::Path;

use crate::names::Order;
use crate::tree::Content;

/// What a power loss does to names. Sectors are always lost individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Changes of the names in a directory become durable in order, as with a journal.
    Journal,
    /// They become durable in any order.
    Any,
}

impl Loss {
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Journal => Order::Journal,
            Self::Any => Order::Any,
        }
    }
}

/// Replaces everything below `root` by `content`. The caller ensures that these calls are not
/// simulated.
pub(crate) fn replace(root: &Path, content: &Content) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    for (path, bytes) in content {
        let path = root.join(path.trim_start_matches('/'));
        match bytes {
            Some(bytes) => fs::write(path, bytes)?,
            None => fs::create_dir(path)?,
        }
    }
    Ok(())
}

/// Reads everything below `root`.
pub(crate) fn read(root: &Path) -> io::Result<Content> {
    let mut content = Content::new();
    read_below(root, "", &mut content)?;
    Ok(content)
}

fn read_below(dir: &Path, path: &str, content: &mut Content) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            content.insert(path.clone(), None);
            read_below(&entry.path(), &path, content)?;
        } else {
            content.insert(path, Some(fs::read(entry.path())?));
        }
    }
    Ok(())
}
