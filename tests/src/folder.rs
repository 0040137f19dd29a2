//! Directories for the files of a test.

use tempfile::TempDir;

/// Makes an empty directory, which is deleted when the value is dropped.
#[track_caller]
pub fn folder() -> TempDir {
    match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => panic!("no temporary directory: {error}"),
    }
}
