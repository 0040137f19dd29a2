//! The rig: the members that `tools/cluster-up` kills, revives, cuts and heals.

use std::process::Stdio;

use tokio::process::Command;

use crate::outcome::{Failure, Outcome};

/// The script.
#[derive(Clone, Debug)]
pub(crate) struct Rig {
    script: String,
}

impl Rig {
    /// Uses a script at this path.
    pub(crate) fn new(script: String) -> Self {
        Self { script }
    }

    /// Kills a member of the store with SIGKILL.
    pub(crate) async fn kill(&self, member: &str) -> Outcome<()> {
        self.run("kill", member).await
    }

    /// Starts a member again.
    pub(crate) async fn revive(&self, member: &str) -> Outcome<()> {
        self.run("revive", member).await
    }

    /// Takes the link of a member down.
    pub(crate) async fn cut(&self, member: &str) -> Outcome<()> {
        self.run("cut", member).await
    }

    /// Takes the link of a member up.
    pub(crate) async fn heal(&self, member: &str) -> Outcome<()> {
        self.run("heal", member).await
    }

    async fn run(&self, command: &str, member: &str) -> Outcome<()> {
        let status = Command::new(&self.script)
            .args([command, member])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .await?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::Usage(format!("{} {command} {member}: {status}", self.script)))
    }
}
