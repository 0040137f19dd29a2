//! The files of a commit, from `git ls-tree`. A commit of a few objects can have any number of
//! paths, so they are counted while they are read, and git is killed when there are too many.

use tokio::io::{AsyncBufReadExt, BufReader};

use super::command::GitCommand;
use super::directory::GitDirectory;
use super::error::GitError;
use super::limits;
use super::process::{GitProcess, within};
use super::program::Git;
use crate::areas::repositories::object_id::ObjectId;

/// The files of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::repositories) struct Tree {
    /// By path.
    pub(in crate::areas::repositories) files: Vec<TreeFile>,
    pub(in crate::areas::repositories) skipped: SkippedEntries,
}

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::repositories) struct TreeFile {
    /// Relative, with `/` between names, none of which is empty, `.` or `..`.
    pub(in crate::areas::repositories) path: String,
    pub(in crate::areas::repositories) blob: ObjectId,
    pub(in crate::areas::repositories) bytes: u64,
}

/// What is in a commit but is no file that can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::repositories) struct SkippedEntries {
    /// Symbolic links.
    pub(in crate::areas::repositories) links: u64,
    pub(in crate::areas::repositories) submodules: u64,
    /// Paths that are not UTF-8, too long or deep, or lead elsewhere.
    pub(in crate::areas::repositories) invalid_paths: u64,
}

impl Git {
    /// Returns the files of a commit that was fetched.
    pub(in crate::areas::repositories) async fn list_tree(
        &self,
        directory: &GitDirectory,
        commit: ObjectId,
    ) -> Result<Tree, GitError> {
        let commit = commit.to_string();
        let arguments = ["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", &commit];
        let command = GitCommand::local(self.place(Some(directory)).await?, &arguments);
        within(limits::COMMAND_TIMEOUT, async {
            let mut process = GitProcess::start(&command, None).await?;
            let mut output = BufReader::new(process.take_output()?);
            let mut tree = Tree::default();
            let mut entry = Vec::new();
            let (mut entries, mut bytes) = (0, 0);
            while read_entry(&mut output, &mut entry).await? {
                entries += 1;
                bytes += entry.len();
                if entries > self.settings.files_max || bytes > limits::PATHS_BYTES_MAX {
                    let max = self.settings.files_max;
                    let reason = format!("it has more than {max} files (repositories.files_max)");
                    return Err(GitError::TooLarge(reason));
                }
                tree.add(&entry)?;
            }
            process.finish().await?;
            Ok(tree)
        })
        .await
    }
}

/// Reads up to the next NUL, which is not part of the entry; false at the end. What is longer than
/// any entry that is used is read, and not kept.
async fn read_entry(
    output: &mut (impl AsyncBufReadExt + Unpin),
    entry: &mut Vec<u8>,
) -> Result<bool, GitError> {
    const KEPT: usize = limits::ENTRY_HEAD_BYTES_MAX + limits::PATH_BYTES_MAX + 1;
    entry.clear();
    loop {
        let available = output.fill_buf().await?;
        if available.is_empty() {
            return match entry.is_empty() {
                true => Ok(false),
                false => Err(malformed()),
            };
        }
        let end = available.iter().position(|byte| *byte == 0);
        let part = end.unwrap_or(available.len());
        entry.extend(available.iter().take(part.min(KEPT.saturating_sub(entry.len()))));
        output.consume(part + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

impl Tree {
    /// Adds an entry: `<mode> <type> <object> <size>\t<path>`, the size padded with spaces.
    fn add(&mut self, entry: &[u8]) -> Result<(), GitError> {
        let tab = entry.iter().position(|byte| *byte == b'\t').ok_or_else(malformed)?;
        let (head, path) = entry.split_at(tab);
        let head = std::str::from_utf8(head).map_err(|_| malformed())?;
        let mut parts = head.split_ascii_whitespace();
        let (Some(mode), Some(_), Some(object), Some(size)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed());
        };
        match mode {
            "120000" => self.skipped.links += 1,
            "160000" => self.skipped.submodules += 1,
            _ => match usable(path.get(1..).unwrap_or_default()) {
                None => self.skipped.invalid_paths += 1,
                Some(path) => self.files.push(TreeFile {
                    path: path.to_owned(),
                    blob: ObjectId::parse(object).map_err(|_| malformed())?,
                    bytes: size.parse().map_err(|_| malformed())?,
                }),
            },
        }
        Ok(())
    }
}

/// Returns a path that can be shown and asked for.
fn usable(path: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(path).ok()?;
    let is_usable_name = |name: &str| !name.is_empty() && name != "." && name != "..";
    let is_usable = text.len() <= limits::PATH_BYTES_MAX
        && !text.chars().any(char::is_control)
        && text.split('/').count() <= limits::PATH_DEPTH_MAX
        && text.split('/').all(is_usable_name);
    is_usable.then_some(text)
}

fn malformed() -> GitError {
    GitError::Damaged("git lists files in an unknown form".to_owned())
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn entries_are_files_links_and_submodules() {
        let id = "0123456789012345678901234567890123456789";
        let mut tree = Tree::default();
        for (entry, path) in [
            (format!("100644 blob {id}      12"), "src/a b.rs"),
            (format!("100755 blob {id}       0"), "run"),
            (format!("120000 blob {id}      11"), "link"),
            (format!("160000 commit {id}       -"), "module"),
            (format!("100644 blob {id}      12"), "../x"),
            (format!("100644 blob {id}      12"), "a//b"),
            (format!("100644 blob {id}      12"), "/etc/passwd"),
            (format!("100644 blob {id}      12"), "a\nb"),
        ] {
            tree.add(format!("{entry}\t{path}").as_bytes()).unwrap();
        }
        tree.add(&[format!("100644 blob {id} 1\t").as_bytes(), b"\xff"].concat()).unwrap();
        let paths: Vec<_> =
            tree.files.iter().map(|file| (file.path.as_str(), file.bytes)).collect();
        assert_eq!(paths, [("src/a b.rs", 12), ("run", 0)]);
        let skipped = SkippedEntries { links: 1, submodules: 1, invalid_paths: 5 };
        assert_eq!(tree.skipped, skipped);
        for wrong in ["", "100644 blob x 1\ta", "100644 blob\ta"] {
            assert!(tree.add(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_have_a_length_and_a_depth() {
        let deep = vec!["a"; limits::PATH_DEPTH_MAX].join("/");
        assert!(usable(deep.as_bytes()).is_some());
        assert!(usable(format!("{deep}/a").as_bytes()).is_none());
        let long = "a".repeat(limits::PATH_BYTES_MAX);
        assert!(usable(long.as_bytes()).is_some());
        assert!(usable(format!("{long}a").as_bytes()).is_none());
    }
}
