//! What a kill leaves of an open store, for tests.

use std::path::Path;
use std::{fs, io};

/// Copies the files of the store in `live`, as they are now, into the new directory `killed`. Its background work may
/// remove a file meanwhile; then the copy is begun again, so that it is never half of one moment and half of another.
pub(crate) fn copy_as_killed(live: &Path, killed: &Path) {
    loop {
        fs::create_dir(killed).unwrap();
        match copy_files(live, killed) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::remove_dir_all(killed).unwrap();
            }
            Err(error) => panic!("copying {}: {error}", live.display()),
        }
    }
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
