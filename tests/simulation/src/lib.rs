//! A simulated disk for tests: what a machine does to files, decided by a seed.
//!
//! The crate defines the system calls on files that Rust's standard library and the statically linked RocksDB use. Linked into
//! a test, these definitions are found before those of the C library. Calls on paths below the folder of a [`Disk`]
//! are recorded and may fail; all others go to the kernel untouched.
//!
//! ```text
//! std, RocksDB ──▶ calls.rs: open, write, fdatasync, rename, ... ──▶ kernel (a folder in memory)
//!                     │ asks, tells
//!                     ▼
//!                  disk.rs: faults (faults.rs) · what is durable (tree.rs, inode.rs) · power loss and decay
//! ```
//!
//! Upon it [`live_through_histories`] lives through what seeds decide: a [`Driver`] has a program on a disk and a naive model beside
//! it, does the steps of a [`History`], and compares. A history that fails is made shorter and printed with its seed.
//!
//! A process cannot kill a part of itself. So a crash stops the disk: from that instant every call that would change it fails,
//! whoever makes it. The test drops the program under test, and goes on with what the disk holds after [`Disk::restart`]
//! (as after kill -9) or [`Disk::lose_power`].
//!
//! What differs between two runs of one seed: threads in the background of RocksDB (flushes and compactions that nobody waits
//! for) meet faults and power losses at different points. Faults are counted for each kind of file and call by itself, so that
//! those threads do not shift the faults of other files.
#![warn(missing_docs)]

mod calls;
mod disk;
mod failing;
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
pub use failing::{Failure, Outcome, fail};
pub use faults::{Call, Effect, Errno, Fault, FileKind};
pub use history::{Crash, Driver, History, HistoryOf};
pub use image::Loss;
pub use random::Random;
pub use run::{live_through_histories, trace};
pub use state::Decay;
