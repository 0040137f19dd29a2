//! Remote repositories: where they are, and at which commit a branch is.

use super::command::{GitCommand, GitInput};
use super::error::GitError;
use super::limits;
use super::names::{BranchName, RepositoryUrl};
use super::process::{GitProcess, within};
use super::program::{Git, Session};
use crate::areas::repositories::object_id::ObjectId;
use crate::platform::sealing::Secret;

/// A branch of a remote repository.
#[derive(Clone, Debug)]
pub(in crate::areas::repositories) struct Remote {
    pub(in crate::areas::repositories) url: RepositoryUrl,
    /// `None` is the default branch.
    pub(in crate::areas::repositories) branch: Option<BranchName>,
    /// What is sent as the password.
    pub(in crate::areas::repositories) token: Option<Secret>,
}

/// The commit that a branch is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct RemoteHead {
    pub(in crate::areas::repositories) branch: BranchName,
    pub(in crate::areas::repositories) commit: ObjectId,
}

impl Git {
    /// Asks at which commit a branch is.
    pub(in crate::areas::repositories) async fn remote_head(
        &self,
        remote: &Remote,
    ) -> Result<RemoteHead, GitError> {
        let session = self.session(remote, limits::ADVERTISED_BYTES_MAX).await?;
        let asked = within(limits::COMMAND_TIMEOUT, self.list_refs(remote, &session)).await;
        let listed = asked.map_err(|error| session.explained(error))?;
        let text = String::from_utf8_lossy(&listed);
        match &remote.branch {
            None => default_head(&text),
            Some(branch) => branch_head(&text, branch),
        }
    }

    async fn list_refs(&self, remote: &Remote, session: &Session) -> Result<Vec<u8>, GitError> {
        let wanted = remote.branch.as_ref().map_or("HEAD".to_owned(), BranchName::full_ref);
        let url = remote.url.to_string();
        let arguments = ["ls-remote", "--symref", "--", &url, &wanted];
        let command = GitCommand {
            url: Some(url.clone()),
            network: Some(session.network.clone()),
            input: input_of(remote),
            ..GitCommand::local(self.place(None).await?, &arguments)
        };
        let process = GitProcess::start(&command, remote.token.as_ref()).await?;
        process.output(limits::REFS_BYTES_MAX).await
    }
}

/// Returns what the standard input of a command is for that reaches a remote repository.
pub(super) fn input_of(remote: &Remote) -> GitInput {
    if remote.token.is_some() { GitInput::Token } else { GitInput::Nothing }
}

/// Returns the default branch, from lines `ref: refs/heads/main\tHEAD` and `<commit>\tHEAD`.
fn default_head(text: &str) -> Result<RemoteHead, GitError> {
    let mut branch = None;
    let mut commit = None;
    for line in text.lines() {
        match line.strip_prefix("ref: ").map(|rest| rest.strip_suffix("\tHEAD")) {
            Some(Some(name)) => branch = name.strip_prefix("refs/heads/"),
            Some(None) => {}
            None => commit = commit.or_else(|| commit_of(line, "HEAD")),
        }
    }
    let commit = commit.ok_or(GitError::Empty)?;
    let branch = branch.and_then(|name| BranchName::parse(name).ok());
    Ok(RemoteHead { branch: branch.ok_or(GitError::NoDefaultBranch)?, commit })
}

fn branch_head(text: &str, branch: &BranchName) -> Result<RemoteHead, GitError> {
    let name = branch.full_ref();
    let commit = text.lines().find_map(|line| commit_of(line, &name));
    let commit = commit.ok_or_else(|| GitError::BranchNotFound(branch.to_string()))?;
    Ok(RemoteHead { branch: branch.clone(), commit })
}

fn commit_of(line: &str, name: &str) -> Option<ObjectId> {
    let (commit, of) = line.split_once('\t')?;
    if of == name { ObjectId::parse(commit).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_from_the_list_of_refs() {
        let id = "0123456789012345678901234567890123456789";
        let text = format!("ref: refs/heads/trunk\tHEAD\n{id}\tHEAD\n");
        let head = default_head(&text).unwrap();
        assert_eq!((head.branch.to_string(), head.commit.to_string()), ("trunk".into(), id.into()));
        let code = |text: &str| default_head(text).unwrap_err().code();
        assert_eq!(code(""), "empty_repository");
        assert_eq!(code("ref: refs/heads/trunk\tHEAD\n"), "empty_repository", "no commit yet");
        for name in ["", "ref: refs/tags/a\tHEAD\n", "ref: refs/heads/a/-b\tHEAD\n"] {
            assert_eq!(code(&format!("{name}{id}\tHEAD\n")), "no_default_branch", "{name}");
        }
        let branch = BranchName::parse("a/b").unwrap();
        let found =
            branch_head(&format!("{id}\trefs/heads/x/a/b\n{id}\trefs/heads/a/b\n"), &branch);
        assert_eq!(found.unwrap().branch, branch);
        let missing = branch_head(&format!("{id}\trefs/heads/x/a/b\n"), &branch);
        assert!(matches!(missing, Err(GitError::BranchNotFound(_))));
    }
}
