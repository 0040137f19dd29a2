//! The system's git, which fetches commits and reads their objects.
//!
//! Git runs locked down: without the environment, the configuration of the system or of users,
//! hooks, helpers, submodules or a checkout, with limits on time, memory and disk space, in a
//! process group that is killed as a whole. Its only way to the network is a proxy of this process
//! that refuses special addresses. The token reaches it through a pipe, so it is in no argument,
//! environment or file.

mod askpass;
mod blobs;
mod command;
mod directory;
mod error;
mod fetch;
mod limits;
mod names;
mod process;
mod program;
mod remote;
mod tree;

#[cfg(test)]
mod tests;

pub use askpass::{ASKPASS_VARIABLE, AskpassError, answer};
pub(in crate::areas::repositories) use directory::GitDirectory;
pub use error::GitError;
pub use names::{BranchName, BranchNameError, GitUrlError, RepositoryUrl, UrlSchemes};
pub(in crate::areas::repositories) use program::{Git, GitSettings};
pub(in crate::areas::repositories) use remote::{Remote, RemoteHead};
pub(in crate::areas::repositories) use tree::{Tree, TreeFile};
