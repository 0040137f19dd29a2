//! Git with real repositories.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::command::{GitCommand, GitInput, GitNetwork};
use super::limits;
use super::process::GitProcess;
use super::*;
use crate::areas::repositories::object_id::ObjectId;
use crate::platform::outbound::{OutboundDialler, OutboundPolicy, OutboundSettings};
use crate::platform::sealing::Secret;
use crate::platform::settings::SettingValue as _;
use crate::platform::ticks::Ticks;

/// A remote repository on disk, and git.
struct Lab {
    dir: TempDir,
    git: Git,
}

impl Lab {
    fn new() -> Self {
        Self::with(|_| ())
    }

    fn with(change: impl FnOnce(&mut GitSettings)) -> Self {
        let dir = TempDir::new().unwrap();
        let mut settings = GitSettings {
            schemes: UrlSchemes::from_text("file https").unwrap(),
            ca_file: None,
            fetch_timeout: Duration::from_secs(60),
            bytes_max: 64 << 20,
            total_bytes_max: 1 << 30,
            disk_free_bytes: 0,
            files_max: 1_000,
            askpass: PathBuf::from("/bin/false"),
        };
        change(&mut settings);
        let policy = OutboundPolicy::new(&OutboundSettings::default());
        let dialler = Arc::new(OutboundDialler::new(policy));
        let git = Git::new(settings, dialler, dir.path().join("root"));
        fs::create_dir(dir.path().join("remote")).unwrap();
        Self { dir, git }
    }

    fn remote_path(&self) -> PathBuf {
        self.dir.path().join("remote")
    }

    /// Runs the git of the user in the remote repository, and returns what it writes.
    fn run(&self, arguments: &[&str]) -> String {
        self.run_with_input(arguments, b"")
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut child = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(arguments)
            .current_dir(self.remote_path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn init(&self) {
        self.run(&["init", "--quiet", "--initial-branch=main"]);
    }

    fn write(&self, path: &str, contents: &str) {
        let path = self.remote_path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn commit(&self) -> ObjectId {
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
        ObjectId::parse(&self.run(&["rev-parse", "HEAD"])).unwrap()
    }

    fn remote(&self, branch: Option<&str>) -> Remote {
        let url = format!("file://{}", self.remote_path().display());
        Remote {
            url: RepositoryUrl::parse(&url, self.git.schemes()).unwrap(),
            branch: branch.map(|name| BranchName::parse(name).unwrap()),
            token: None,
        }
    }

    fn directory(&self) -> GitDirectory {
        self.git.lease("repo").directory().clone()
    }

    /// Fetches the default branch, and lists its files.
    async fn sync(&self) -> Result<(ObjectId, Tree), GitError> {
        let remote = self.remote(None);
        let head = self.git.remote_head(&remote).await?;
        let commit = self.git.fetch(&self.directory(), &remote, &head).await?;
        Ok((commit, self.git.list_tree(&self.directory(), commit).await?))
    }

    async fn contents(&self, tree: &Tree) -> Vec<(String, String)> {
        let ids = tree.files.iter().map(|file| file.blob);
        let mut blobs = self.git.blobs(&self.directory(), ids).await.unwrap();
        let mut read = Vec::new();
        for file in &tree.files {
            let contents = blobs.next(file.bytes).await.unwrap();
            read.push((file.path.clone(), String::from_utf8(contents).unwrap()));
        }
        read
    }
}

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn files_of_the_newest_commit_are_read() {
    let lab = Lab::new();
    lab.init();
    lab.write("src/a.rs", "fn a() {}\n");
    lab.write("é b.txt", "x");
    let first = lab.commit();
    let (commit, tree) = lab.sync().await.unwrap();
    assert_eq!(commit, first);
    let expected = pairs(&[("src/a.rs", "fn a() {}\n"), ("é b.txt", "x")]);
    assert_eq!(lab.contents(&tree).await, expected);
    assert!(tree.files[0].blob.is_of_blob(b"fn a() {}\n"));

    lab.write("src/a.rs", "fn b() {}\n");
    let second = lab.commit();
    let (commit, tree) = lab.sync().await.unwrap();
    assert_eq!(commit, second);
    assert_eq!(lab.contents(&tree).await[0].1, "fn b() {}\n");
}

#[tokio::test]
async fn branches_are_found_or_named() {
    let lab = Lab::new();
    lab.init();
    let empty = lab.git.remote_head(&lab.remote(None)).await.unwrap_err();
    assert_eq!(empty.code(), "empty_repository");
    let first = lab.commit();
    lab.run(&["checkout", "--quiet", "-b", "feature/x"]);
    let second = lab.commit();
    let head = lab.git.remote_head(&lab.remote(Some("main"))).await.unwrap();
    assert_eq!((head.branch.to_string(), head.commit), ("main".to_owned(), first));
    let head = lab.git.remote_head(&lab.remote(None)).await.unwrap();
    assert_eq!((head.branch.to_string(), head.commit), ("feature/x".to_owned(), second));
    let missing = lab.git.remote_head(&lab.remote(Some("nope"))).await.unwrap_err();
    assert_eq!(missing.to_string(), "the repository has no branch \"nope\"");
    let absent = Remote {
        url: RepositoryUrl::parse("file:///nonexistent/x.git", lab.git.schemes()).unwrap(),
        ..lab.remote(None)
    };
    let error = lab.git.remote_head(&absent).await.unwrap_err();
    assert_eq!(error.code(), "repository_not_found", "{error}");
}

#[tokio::test]
async fn repositories_of_sha256_are_read() {
    let lab = Lab::new();
    lab.run(&["init", "--quiet", "--object-format=sha256", "--initial-branch=main"]);
    lab.write("a", "text");
    let first = lab.commit();
    assert_eq!(first.as_bytes().len(), 32);
    let (commit, tree) = lab.sync().await.unwrap();
    assert_eq!(commit, first);
    assert!(tree.files[0].blob.is_of_blob(b"text"));
    assert_eq!(lab.contents(&tree).await, pairs(&[("a", "text")]));
}

#[tokio::test]
async fn nothing_of_a_hostile_repository_is_executed_or_followed() {
    let lab = Lab::new();
    lab.init();
    let touched = lab.dir.path().join("touched");
    let script = format!("#!/bin/sh\ntouch {}\n", touched.display());
    for hook in ["post-checkout", "reference-transaction", "post-merge"] {
        lab.write(&format!(".git/hooks/{hook}"), &script);
        let path = lab.remote_path().join(".git/hooks").join(hook);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    lab.write("good.rs", "fn good() {}\n");
    std::os::unix::fs::symlink("/etc/passwd", lab.remote_path().join("passwd")).unwrap();
    lab.write(".gitattributes", "* filter=evil diff=evil\n");
    lab.run(&["add", "--all"]);
    lab.run(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{},module", "1".repeat(40)),
    ]);
    lab.run(&["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "x"]);
    fs::remove_file(&touched).unwrap_or_default();
    let (_, tree) = lab.sync().await.unwrap();
    let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".gitattributes", "good.rs"]);
    assert_eq!((tree.skipped.links, tree.skipped.submodules), (1, 1));
    assert!(!touched.exists());
}

/// Writes a tree object as it is, whatever git thinks of it.
fn tree_object(lab: &Lab, entries: &[(&str, &str, &ObjectId)]) -> ObjectId {
    let mut contents = Vec::new();
    for (mode, name, id) in entries {
        contents.extend(format!("{mode} {name}\0").into_bytes());
        contents.extend(id.as_bytes());
    }
    let arguments = ["hash-object", "-w", "-t", "tree", "--literally", "--stdin"];
    ObjectId::parse(&lab.run_with_input(&arguments, &contents)).unwrap()
}

fn commit_tree(lab: &Lab, tree: ObjectId) {
    let commit = lab.run(&["commit-tree", "-m", "x", &tree.to_string()]);
    lab.run(&["update-ref", "refs/heads/main", &commit]);
}

#[tokio::test]
async fn paths_that_lead_elsewhere_are_refused() {
    let lab = Lab::new();
    lab.init();
    lab.write("a", "text");
    lab.commit();
    let blob = ObjectId::parse(&lab.run(&["rev-parse", "HEAD:a"])).unwrap();
    let inner = tree_object(&lab, &[("100644", "x", &blob)]);
    commit_tree(&lab, tree_object(&lab, &[("40000", "..", &inner), ("100644", "a", &blob)]));
    let error = lab.sync().await.unwrap_err();
    assert_eq!(error.code(), "git_failed");
    assert!(error.to_string().contains("hasDotdot"), "{error}");
}

#[tokio::test]
async fn a_commit_of_ten_billion_paths_ends_soon() {
    let lab = Lab::new();
    lab.init();
    lab.write("a", "text");
    lab.commit();
    let blob = ObjectId::parse(&lab.run(&["rev-parse", "HEAD:a"])).unwrap();
    let names: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    let level = |mode: &'static str, id: ObjectId| {
        let entries: Vec<_> = names.iter().map(|name| (mode, name.as_str(), &id)).collect();
        tree_object(&lab, &entries)
    };
    let mut tree = level("100644", blob);
    for _ in 0..9 {
        tree = level("40000", tree);
    }
    commit_tree(&lab, tree);
    let error = lab.sync().await.unwrap_err();
    assert_eq!(error.code(), "too_large");
}

/// Returns words that cannot be compressed: xorshift (Marsaglia, 2003).
fn random(seed: u64, words: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next).take(words).flatten().collect()
}

#[tokio::test]
async fn what_is_fetched_has_a_limit() {
    let lab = Lab::with(|settings| settings.bytes_max = 1 << 20);
    lab.init();
    fs::write(lab.remote_path().join("big"), random(1, 512 << 10)).unwrap();
    lab.commit();
    let error = lab.sync().await.unwrap_err();
    assert_eq!(error.code(), "too_large", "{error}");
}

#[tokio::test]
async fn a_damaged_directory_is_fetched_anew() {
    let lab = Lab::new();
    lab.init();
    lab.write("a", "text");
    lab.commit();
    lab.sync().await.unwrap();
    let packs = lab.directory().path().join("objects/pack");
    for entry in fs::read_dir(&packs).unwrap() {
        fs::write(entry.unwrap().path(), b"damaged").unwrap_or_default();
    }
    fs::write(lab.directory().path().join("HEAD"), b"damaged").unwrap();
    lab.write("b", "more");
    lab.commit();
    let (_, tree) = lab.sync().await.unwrap();
    assert_eq!(lab.contents(&tree).await, pairs(&[("a", "text"), ("b", "more")]));
    lab.git.retain(|name| name == "repo").unwrap();
    assert!(lab.directory().exists());
    lab.git.retain(|_| false).unwrap();
    assert!(!lab.directory().exists());
}

#[tokio::test]
async fn earlier_commits_do_not_count() {
    let lab = Lab::with(|settings| settings.bytes_max = 1 << 20);
    lab.init();
    for seed in 1..=4 {
        // Each is below the limit, two of them are above half of it.
        fs::write(lab.remote_path().join("big"), random(seed, 80 << 10)).unwrap();
        lab.commit();
        lab.sync().await.unwrap();
        assert!(lab.directory().bytes() < 1 << 20);
    }
    let left = lab.directory().path().join("objects/pack/tmp_pack_a");
    fs::write(&left, b"left by a crash").unwrap();
    lab.write("a", "text");
    lab.commit();
    lab.sync().await.unwrap();
    assert!(!left.exists());
}

#[tokio::test]
async fn nothing_is_left_of_what_is_too_large() {
    let lab = Lab::with(|settings| settings.bytes_max = 1 << 20);
    lab.init();
    lab.write("a", "text");
    lab.commit();
    lab.sync().await.unwrap();
    fs::write(lab.remote_path().join("big"), random(1, 512 << 10)).unwrap();
    lab.commit();
    assert_eq!(lab.sync().await.unwrap_err().code(), "too_large");
    assert!(!lab.directory().exists());
    fs::remove_file(lab.remote_path().join("big")).unwrap();
    lab.commit();
    lab.sync().await.unwrap();
}

#[tokio::test]
async fn the_oldest_directories_make_room() {
    let lab = Lab::with(|settings| {
        settings.bytes_max = 1 << 20;
        settings.total_bytes_max = 2 << 20;
    });
    lab.init();
    lab.write("a", "text");
    lab.commit();
    let root = lab.dir.path().join("root");
    let other = |name: &str| {
        let pack = root.join(name).join("objects/pack");
        fs::create_dir_all(&pack).unwrap();
        fs::write(pack.join("a.pack"), vec![0; 700 << 10]).unwrap();
        root.join(name)
    };
    let (old, leased, unrelated) = (other("old.git"), other("leased.git"), other("home"));
    let lease = lab.git.lease("leased");
    lab.sync().await.unwrap();
    assert!(!old.exists() && leased.exists() && unrelated.exists());
    lab.git.retain(|_| false).unwrap();
    assert!(leased.exists(), "it is in use");
    drop(lease);
    lab.git.retain(|_| false).unwrap();
    assert!(!leased.exists());
}

#[tokio::test]
async fn disk_space_stays_free() {
    let lab = Lab::with(|settings| settings.disk_free_bytes = u64::MAX);
    lab.init();
    lab.write("a", "text");
    lab.commit();
    assert_eq!(lab.sync().await.unwrap_err().code(), "disk_full");
    assert!(!lab.directory().exists());
}

#[tokio::test]
async fn missing_objects_are_an_error() {
    let lab = Lab::new();
    lab.init();
    lab.write("a", "text");
    lab.commit();
    lab.sync().await.unwrap();
    let missing = ObjectId::parse(&"1".repeat(40)).unwrap();
    let mut blobs = lab.git.blobs(&lab.directory(), [missing].into_iter()).await.unwrap();
    assert!(matches!(blobs.next(4).await, Err(GitError::Damaged(_))));
    assert!(lab.git.list_tree(&lab.directory(), missing).await.is_err());
}

#[tokio::test]
async fn special_addresses_are_not_reached() {
    let lab = Lab::new();
    let url = "https://127.0.0.1:1/a.git";
    let url = RepositoryUrl::parse(url, lab.git.schemes()).unwrap();
    let remote = Remote { url, branch: None, token: None };
    let error = lab.git.remote_head(&remote).await.unwrap_err();
    assert_eq!(error.code(), "address_not_allowed", "{error}");
}

/// A program in place of git that writes its arguments and environment, asks for the token as git
/// would, and does not end.
#[tokio::test]
async fn the_token_is_in_no_argument_or_variable_and_processes_are_killed() {
    let lab = Lab::new();
    let place = lab.git.place(None).await.unwrap();
    let network = GitNetwork {
        scheme: "https".to_owned(),
        proxy: Some("http://127.0.0.1:1".to_owned()),
        ca_file: Some("/ca.pem".into()),
        askpass: Some("/askpass".into()),
    };
    // An alias that starts a shell: the one way to see what git's children get.
    let script = "!tr '\\0' '\\n' < /proc/self/environ; tr '\\0' ' ' < /proc/$PPID/cmdline; \
                  read -r token <&3; echo; echo \"pipe $token\"; echo \"pid $$\"; exec sleep 1000";
    let mut command = GitCommand::local(place, &["-c", &format!("alias.see={script}"), "see"]);
    command.network = Some(network);
    command.input = GitInput::Token;
    let token: Secret = "s3cr3t-token".to_owned().into();
    let mut process = GitProcess::start(&command, Some(&token)).await.unwrap();
    let mut output = tokio::io::BufReader::new(process.take_output().unwrap());
    let mut lines = Vec::new();
    let pid = loop {
        let mut line = String::new();
        tokio::io::AsyncBufReadExt::read_line(&mut output, &mut line).await.unwrap();
        assert!(!line.is_empty(), "{lines:?}");
        if let Some(pid) = line.strip_prefix("pid ") {
            break pid.trim().to_owned();
        }
        lines.push(line);
    };
    let (pipe, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.starts_with("pipe"));
    assert_eq!(pipe, ["pipe s3cr3t-token\n"]);
    let others: String = others.into_iter().cloned().collect();
    assert!(!others.contains("s3cr3t"), "{others}");
    for expected in [
        "GIT_ASKPASS=/askpass",
        "TELLTALE_GIT_ASKPASS=3",
        "http.sslCAInfo=/ca.pem",
        "GIT_TERMINAL_PROMPT=0",
    ] {
        assert!(others.contains(expected), "{expected}: {others}");
    }
    let of_child = Path::new("/proc").join(&pid);
    assert!(of_child.exists());
    drop(process);
    // It was killed, and ends as soon as it is scheduled.
    let watch = Ticks::system();
    let has_ended = || {
        let state = fs::read_to_string(of_child.join("stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    while !has_ended() {
        assert!(watch.elapsed() < limits::REAP_TIMEOUT, "the process runs on");
        std::thread::yield_now();
    }
}
