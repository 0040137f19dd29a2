//! Guards: the redundancy needed to repair damaged files in place.
//!
//! A table file never changes after it is written. For each table the directory `guards` contains a
//! guard: a checksum of each 4 KB sector of the table, and parity sectors, each the exclusive or of
//! every nth sector. A sector with a wrong checksum is reconstructed from its parity and the other
//! sectors of its group, and is written back in place. This covers keys, index, filter and footer
//! as well as values. Adjacent sectors are in different groups, so damage that spans two sectors
//! can be repaired too.
//!
//! `table_guard.rs` has the guard of one table, `small_file.rs` the file that those of small tables
//! share, `guards.rs` all guards of a database, and `manifest_copy.rs` the copy of the manifest,
//! which lists the tables.

mod guards;
mod limits;
mod manifest_copy;
mod small_file;
mod table_guard;

pub(super) use guards::{GUARDS_DIR, Guards, paths_in};
#[cfg(test)]
pub(super) use manifest_copy::read_copy;
pub(super) use manifest_copy::{ManifestCopy, current_manifest, manifest_number, manifests};
pub(super) use table_guard::Health;
