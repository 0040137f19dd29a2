//! Verification of all files of a data directory, open or closed. Nothing is written.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use super::digest::FileDigest;
use super::layout::{Entry, Layout};
use crate::reports::VerifyReport;

/// Reads and checks every file of the data directory `dir`.
pub(crate) fn verify(dir: &Path, report: &mut VerifyReport) {
    let layout = Layout::new(dir);
    let VerifyReport { files, bytes, damaged, .. } = report;
    let listed = layout.visit(|entry| {
        let Entry::Stored(digest) = entry else { return };
        match File::open(layout.file(digest)).and_then(FileDigest::of_reader) {
            Ok((found, length)) => {
                *files += 1;
                *bytes += length;
                if found != digest {
                    damaged.push(format!("file {digest}: its contents do not match its name"));
                }
            }
            // Deleted meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => damaged.push(format!("file {digest}: it cannot be read: {error}")),
        }
    });
    if let Err(error) = listed {
        damaged.push(format!("files: {} cannot be listed: {error}", layout.root().display()));
    }
}
