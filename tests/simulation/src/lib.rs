//! A simulated disk for tests: what a machine does to files, determined by a seed.
//!
//! The crate defines the system calls on files that Rust's standard library and the statically
//! linked RocksDB use. In a test that links it, these definitions take precedence over those of the
//! C library. Calls on paths below the directory of a [`Disk`] are recorded and may fail; all
//! others go to the kernel unchanged.
//!
//! ```text
//! std, RocksDB ──▶ calls.rs: open, write, fdatasync, rename ──▶ kernel (a directory in memory)
//!                     │ decides, records
//!                     ▼
//!                  disk.rs: faults (faults.rs) · durable state (tree.rs, inode.rs) ·
//!                           power loss and decay
//! ```
//!
//! On top of it, [`run_histories_with_report`] runs histories generated from seeds: a [`Driver`]
//! has a program on a disk and a naive model of it, executes the steps of a [`History`], and
//! compares the two. A failing history is shrunk and printed with its seed.
//!
//! A process cannot kill a part of itself, so a crash stops the disk: from then on every call that
//! would change it fails, on all threads. The test drops the program under test and continues with
//! what the disk contains after [`Disk::restart`] (as after kill -9) or [`Disk::lose_power`].
//!
//! Two runs of one seed may differ in one respect: background threads of RocksDB (flushes and
//! compactions that nobody waits for) meet faults and power losses at different points. Faults are
//! counted separately for each kind of file and call, so that those threads do not shift the faults
//! of other files.
#![warn(missing_docs)]

mod calls;
mod disk;
mod failure;
mod faults;
mod history;
mod image;
mod inode;
mod names;
mod random;
mod run;
mod shrink;
mod state;
mod tree;

pub use disk::Disk;
pub use failure::{Failure, Outcome, fail};
pub use faults::{Call, Effect, Errno, Fault, FileKind};
pub use history::{Crash, Driver, History, HistoryOf};
pub use image::Loss;
pub use random::Random;
pub use run::{run_histories_with_report, trace};
pub use state::Decay;
