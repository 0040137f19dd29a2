//! The process group of Chromium, killed as a whole.
//!
//! Its processes are children of each other; those whose parent was killed belong to the first
//! process of the system or container. If that is the server, it has to wait for them, or they stay
//! as zombies.

use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpgid, waitpid,
};
use tokio::process::Child;

use super::relatives;
use crate::areas::snapshots::capture::limits::{REAP_PERIOD, REAP_TIMEOUT};
use crate::platform::ticks::Ticks;

/// A process group. Killed when dropped.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Child,
    leader: Option<Pid>,
    /// Occurs on the command lines of all processes.
    directory: PathBuf,
    relatives: Vec<Pid>,
}

impl ProcessGroup {
    /// Takes a process that leads a process group of its own.
    pub(super) fn new(child: Child, directory: PathBuf) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { child, leader, directory, relatives: Vec::new() }
    }

    /// Returns the identifier of the group, which is that of its first process.
    pub(super) fn id(&self) -> Option<u32> {
        self.leader.and_then(|leader| u32::try_from(leader.as_raw_nonzero().get()).ok())
    }

    /// Kills all processes, waits until they have ended, for a short time, and removes what the
    /// system keeps about them.
    pub(super) fn kill(&mut self) {
        let Some(leader) = self.leader.take() else { return };
        // The group exists as long as nobody waited for its leader, so its number is not that of
        // another one.
        self.relatives = relatives::with_path_in(&self.directory);
        tolerate(kill_process_group(leader, Signal::KILL));
        for relative in &self.relatives {
            tolerate(kill_process(*relative, Signal::KILL));
        }
        let watch = Ticks::system();
        while !self.has_ended(leader) {
            if watch.elapsed() > REAP_TIMEOUT {
                tracing::warn!(pid = leader.as_raw_nonzero(), "the browser does not end");
                return;
            }
            std::thread::park_timeout(REAP_PERIOD);
        }
    }

    fn has_ended(&mut self, leader: Pid) -> bool {
        let leader_ended = !matches!(self.child.try_wait(), Ok(None));
        // Only when Tokio has waited for the leader.
        leader_ended && {
            while matches!(waitpgid(leader, WaitOptions::NOHANG), Ok(Some(_))) {}
            for relative in &self.relatives {
                // Fails if the process is not a child of the server, which is the rule.
                waitpid(Some(*relative), WaitOptions::NOHANG).ok();
            }
            rustix::process::test_kill_process_group(leader) == Err(Errno::SRCH)
                || relatives::with_path_in(&self.directory).is_empty()
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ignores that a process has ended already.
fn tolerate(killed: rustix::io::Result<()>) {
    if let Err(error) = killed
        && error != Errno::SRCH
    {
        tracing::warn!(%error, "a process of the browser could not be killed");
    }
}
