//! Test support: a copy of an open store as a kill of the process would leave it.

use std::path::Path;
use std::{fs, io};

/// Copies the files of the store in `live`, as they are now, to the new directory `killed`.
/// Restarts the copy when background work removes a file meanwhile, so that it never mixes two
/// points in time.
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
