//! Files: immutable byte strings that are too large for documents and records, such as images of
//! pages. A file is named by the SHA-256 of its contents.
//!
//! Invariants:
//!
//! - A file is durable when [`Files::put`] returns. A file of the same name is never incomplete:
//!   its contents are written and synced under another name first.
//! - Identical contents are stored once.
//! - [`Files::read`] returns the contents that were stored, or an error: they are compared with the
//!   name. Storing the same contents again repairs a damaged file.
//! - A file is only deleted by [`Files::retain`], never while a [`PinnedFile`] of it exists, and
//!   never while a backup links the files.
//!
//! This module does not know who refers to a file. The owner of the references registers one while
//! it has the [`PinnedFile`] that `put` returned, and calls `retain` from time to time.
//!
//! # Locks
//!
//! ```text
//! sweeps    a sweep of `retain`; a backup from before its checkpoint until the files are linked
//!   names     the check of pins and references with the deletion of the file; a new pin; a rename
//!     pins      the number of pins of each file: also taken to drop a pin
//!     totals    count and bytes
//! ```
//!
//! A lock is only taken while none below it is held. `keep` of `retain` runs under `sweeps` and
//! `names`, so it may drop pins and wait for those who do.
//!
//! # On disk
//!
//! ```text
//! DIR/files/<first two digits>/<64 hexadecimal digits>           a file
//! DIR/files/<first two digits>/.put-<64 digits>-<number>         a file that is being written
//! ```
//!
//! The folder is created with the first file. Entries with other names are ignored.

mod digest;
mod durable_write;
mod file_store;
mod layout;
mod pins;
mod sweep;
mod totals;
mod verify;

#[cfg(test)]
mod tests;

pub use digest::{FileDigest, InvalidDigest};
pub use file_store::Files;
pub use pins::PinnedFile;
pub(crate) use sweep::DeletionBlock;
pub(crate) use verify::verify;
