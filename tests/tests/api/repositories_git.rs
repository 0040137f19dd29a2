//! What the tests of repositories share: repositories that are made on the spot, a server of git
//! that follows commands of the test, and the steps from a repository to its index. Its own tests
//! use plain git.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use telltale_tests::{Client, Conversation, Setup, converse, eventually, folder};
use tempfile::TempDir;

use crate::keys::text;

pub(crate) const REPOSITORIES: &str = "/api/v1/repositories";
const SERVER: &str = include_str!("repositories_git.py");
/// Who and when, so that the same files are the same commit.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "Ann"),
    ("GIT_AUTHOR_EMAIL", "ann@example.com"),
    ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
    ("GIT_COMMITTER_NAME", "Ann"),
    ("GIT_COMMITTER_EMAIL", "ann@example.com"),
    ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
];

/// A server of git repositories. What it does is written in its script.
pub(crate) struct GitServer {
    folder: TempDir,
    script: RefCell<Conversation>,
    addresses: Value,
}

impl GitServer {
    #[track_caller]
    pub(crate) fn start() -> Self {
        let folder = folder();
        let mut script = converse(&[], SERVER, [path_text(folder.path())]);
        let addresses = parsed(&script.exchange(""));
        assert!(addresses["http"].is_u64(), "the server of git did not start");
        Self { folder, script: RefCell::new(script), addresses }
    }

    /// Creates an empty repository that is served.
    #[track_caller]
    pub(crate) fn source(&self, name: &str) -> Source {
        Source::new(self.folder.path().join(format!("{name}.git")))
    }

    /// Returns the URL of a repository over plain HTTP.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}.git", self.addresses["http"])
    }

    /// Returns the URL of a repository over TLS.
    pub(crate) fn tls_url(&self, name: &str) -> String {
        format!("https://127.0.0.1:{}/{name}.git", self.addresses["https"])
    }

    /// Returns the path of the certificate that the one of the server is signed with.
    pub(crate) fn ca_file(&self) -> &str {
        text(&self.addresses["ca_file"])
    }

    /// Gives a command, and returns the answer.
    #[track_caller]
    pub(crate) fn tell(&self, command: &Value) -> Value {
        let answer = parsed(&self.script.borrow_mut().exchange(&command.to_string()));
        assert_eq!(answer["error"], Value::Null, "{command}");
        answer
    }

    /// Stops responses of a phase in the middle, from now on.
    #[track_caller]
    pub(crate) fn hold(&self, phase: &str) {
        self.tell(&json!({"do": "hold", "phase": phase}));
    }

    /// Waits until a response is held.
    #[track_caller]
    pub(crate) fn await_held(&self) {
        assert_eq!(self.tell(&json!({"do": "await_held"}))["done"], "await_held");
    }

    /// Lets held responses go on.
    #[track_caller]
    pub(crate) fn release(&self) {
        self.tell(&json!({"do": "release"}));
    }

    /// Returns all requests so far.
    #[track_caller]
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.tell(&json!({"do": "requests"})).as_array().cloned().unwrap_or_default()
    }

    /// Returns how many requests for objects there were.
    #[track_caller]
    pub(crate) fn fetches(&self) -> usize {
        self.requests().iter().filter(|request| request["phase"] == "pack").count()
    }
}

/// A repository of source code with a checkout.
pub(crate) struct Source {
    folder: PathBuf,
}

/// A file of a commit, as `git ls-tree` lists it.
#[derive(Clone, Debug)]
pub(crate) struct TreeFile {
    pub(crate) mode: String,
    pub(crate) bytes: u64,
    /// Bytes, since a path need not be text.
    pub(crate) path: Vec<u8>,
}

impl Source {
    #[track_caller]
    pub(crate) fn new(folder: PathBuf) -> Self {
        must(std::fs::create_dir_all(&folder));
        let source = Self { folder };
        source.git(["init", "--quiet", "--initial-branch=main"]);
        for setting in ["uploadpack.allowFilter=true", "gc.auto=0", "commit.gpgSign=false"] {
            let (name, value) = setting.split_once('=').unwrap_or_default();
            source.git(["config", name, value]);
        }
        source
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file of the checkout.
    #[track_caller]
    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.folder.join(path);
        must(std::fs::create_dir_all(path.parent().unwrap_or(&self.folder)));
        must(std::fs::write(path, contents));
    }

    /// Writes files, commits everything, and returns the id of the commit.
    #[track_caller]
    pub(crate) fn commit<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        for (path, contents) in files {
            self.write(path, contents);
        }
        self.git(["add", "--all", "--force"]);
        self.git(["commit", "--quiet", "--allow-empty", "--message=a change"]);
        self.head()
    }

    /// Returns the id of the newest commit.
    #[track_caller]
    pub(crate) fn head(&self) -> String {
        must(String::from_utf8(self.git(["rev-parse", "HEAD"]))).trim().to_owned()
    }

    /// Runs git in the repository, and returns its output.
    #[track_caller]
    pub(crate) fn git<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
        self.git_with(arguments, b"")
    }

    /// Runs git with an input.
    #[track_caller]
    pub(crate) fn git_with<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        input: &[u8],
    ) -> Vec<u8> {
        let mut command = git();
        command.current_dir(&self.folder).args(arguments);
        let mut child = must(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn());
        let sink = child.stdin.take();
        let input = input.to_vec();
        let writing = std::thread::spawn(move || sink.map(|mut sink| sink.write_all(&input)));
        let output = must(child.wait_with_output());
        assert!(output.status.success(), "{command:?} failed");
        let written = writing.join().is_ok_and(|written| matches!(written, Some(Ok(()))));
        assert!(written, "{command:?} did not read its input");
        output.stdout
    }

    /// Returns a file of a commit.
    #[track_caller]
    pub(crate) fn show(&self, commit: &str, path: &str) -> Vec<u8> {
        self.git(["show", &format!("{commit}:{path}")])
    }

    /// Returns lines of a file of a commit, without the end of the last one.
    #[track_caller]
    pub(crate) fn lines(&self, commit: &str, path: &str, start: u64, end: u64) -> String {
        let file = must(String::from_utf8(self.show(commit, path)));
        let count = file.split_inclusive('\n').count() as u64;
        assert!(1 <= start && start <= end && end <= count, "{path} has no {start}-{end}");
        let (skipped, taken) = (start as usize - 1, (end + 1 - start) as usize);
        let lines: String = file.split_inclusive('\n').skip(skipped).take(taken).collect();
        let text = lines.strip_suffix('\n').unwrap_or(&lines);
        text.strip_suffix('\r').unwrap_or(text).to_owned()
    }

    /// Returns all files of the newest commit.
    #[track_caller]
    pub(crate) fn tree(&self) -> Vec<TreeFile> {
        let listed = self.git(["ls-tree", "-r", "-l", "-z", "HEAD"]);
        let entries = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        entries.map(tree_file).collect()
    }

    /// Returns the paths of the newest commit that git's own patterns match.
    #[track_caller]
    pub(crate) fn matching(&self, patterns: &[&str]) -> Vec<String> {
        let listed = self.git(["ls-files", "-z", "--"].into_iter().chain(patterns.iter().copied()));
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        paths.map(|path| must(String::from_utf8(path.to_vec()))).collect()
    }

    /// Checks that references are lines of a commit, byte for byte, unless they say that lines are
    /// cut.
    #[track_caller]
    pub(crate) fn check_references(&self, commit: &str, references: &Value) {
        for reference in references.as_array().into_iter().flatten() {
            let line = |name: &str| reference[name].as_u64().unwrap_or_default();
            let (start, end) = (line("line_start"), line("line_end"));
            let expected = self.lines(commit, text(&reference["file_path"]), start, end);
            match reference["truncated"] == true {
                true => check_cut(text(&reference["snippet"]), &expected),
                false => assert_eq!(text(&reference["snippet"]), expected, "{reference}"),
            }
        }
    }
}

/// Checks that lines are those of a text, of which at least one is cut.
#[track_caller]
fn check_cut(shown: &str, whole: &str) {
    assert!(shown != whole && shown.split('\n').count() == whole.split('\n').count());
    for (line, whole) in shown.split('\n').zip(whole.split('\n')) {
        let kept = line.strip_suffix('…').filter(|kept| kept.len() < whole.len());
        assert!(kept.map_or(line == whole, |kept| whole.starts_with(kept)), "{}", line.len());
    }
}

fn tree_file(entry: &[u8]) -> TreeFile {
    let tab = entry.iter().position(|byte| *byte == b'\t').unwrap_or_default();
    let (head, path) = entry.split_at(tab);
    let head = String::from_utf8_lossy(head).into_owned();
    let words: Vec<&str> = head.split_whitespace().collect();
    TreeFile {
        mode: words.first().copied().unwrap_or_default().to_owned(),
        bytes: words.last().and_then(|size| size.parse().ok()).unwrap_or_default(),
        path: path.get(1..).unwrap_or_default().to_vec(),
    }
}

/// Returns git without the configuration of this machine.
fn git() -> Command {
    let mut command = Command::new("git");
    command
        .env_remove("GIT_SSL_CAINFO")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("NO_PROXY", "*")
        .envs(IDENTITY);
    command
}

/// Returns what should not fail.
#[track_caller]
pub(crate) fn must<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns the names of the fields of an object, sorted.
pub(crate) fn fields(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        object.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_default()
}

/// Returns a path as text.
pub(crate) fn path_text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// Returns the settings of a server that may fetch from servers of the tests.
pub(crate) fn setup() -> Setup {
    Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("repositories.schemes", "\"https http\"")
}

/// Connects a repository, and returns it.
#[track_caller]
pub(crate) fn create(client: &Client, body: &Value) -> Value {
    client.post(REPOSITORIES, body).expect(201)
}

/// Waits until no sync of a repository waits or runs, and returns the repository.
#[track_caller]
pub(crate) fn settled(client: &Client, id: &str) -> Value {
    let path = format!("{REPOSITORIES}/{id}");
    eventually("a sync to end", || {
        let found = client.get(&path).expect(200);
        ["synced", "failed"].contains(&text(&found["status"])).then_some(found)
    })
}

/// Waits until a repository is synced, and returns it.
#[track_caller]
pub(crate) fn synced(client: &Client, id: &str) -> Value {
    let found = settled(client, id);
    assert_eq!(found["status"], "synced", "{found}");
    found
}

/// Waits until a sync has failed, and returns its `last_error`.
#[track_caller]
pub(crate) fn failed(client: &Client, id: &str) -> Value {
    let found = settled(client, id);
    assert_eq!(found["status"], "failed", "{found}");
    assert!(!text(&found["last_error"]["message"]).is_empty(), "{found}");
    found["last_error"].clone()
}

/// Connects a repository, waits until it is synced, and returns its id.
#[track_caller]
pub(crate) fn connect(client: &Client, url: &str) -> String {
    connect_with(client, &json!({ "url": url }))
}

/// Connects a repository with other fields, waits until it is synced, and returns its id.
#[track_caller]
pub(crate) fn connect_with(client: &Client, body: &Value) -> String {
    let id = text(&create(client, body)["id"]).to_owned();
    synced(client, &id);
    id
}

/// Begins a sync, and returns the response.
#[track_caller]
pub(crate) fn start_sync(client: &Client, id: &str) -> Value {
    let response = client.post(&format!("{REPOSITORIES}/{id}/sync"), &json!({}));
    assert!((200..=202).contains(&response.status), "{}", response.summary());
    let started = response.expect(response.status);
    assert_eq!(fields(&started), ["started_at", "status", "sync_id"]);
    assert_eq!(started["status"], "started", "{started}");
    started
}

/// Waits until a sync has ended, and returns it.
#[track_caller]
pub(crate) fn ended(client: &Client, id: &str, sync: &str) -> Value {
    let path = format!("{REPOSITORIES}/{id}/syncs/{sync}");
    eventually("a sync to end", || {
        let run = client.get(&path).expect(200);
        (run["status"] != "started").then_some(run)
    })
}

/// Syncs a repository, and returns the completed sync.
#[track_caller]
pub(crate) fn sync(client: &Client, id: &str) -> Value {
    let run = ended(client, id, text(&start_sync(client, id)["sync_id"]));
    assert_eq!(run["status"], "completed", "{run}");
    run
}

/// Returns the paths of all indexed files.
#[track_caller]
pub(crate) fn indexed(client: &Client, id: &str) -> Vec<String> {
    let listed = client.get(&format!("{REPOSITORIES}/{id}/files?limit=1000")).expect(200);
    let files = listed["files"].as_array().into_iter().flatten();
    files.map(|file| text(&file["file_path"]).to_owned()).collect()
}

/// Searches for words, and returns the results.
#[track_caller]
pub(crate) fn search(client: &Client, id: &str, words: &str) -> Vec<Value> {
    let path = format!("{REPOSITORIES}/{id}/search?q={}", encoded(words));
    client.get(&path).expect(200)["results"].as_array().cloned().unwrap_or_default()
}

/// Encodes a text for a query or a segment of a path.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let bytes = text.bytes();
    bytes.map(|b| if plain(b) { char::from(b).into() } else { format!("%{b:02X}") }).collect()
}

/// Returns the newest commit of a repository and its files with their contents.
pub(crate) fn contents(source: &Source) -> BTreeMap<String, Vec<u8>> {
    let tree = source.tree();
    let paths = tree.iter().filter_map(|file| String::from_utf8(file.path.clone()).ok());
    paths.map(|path| (path.clone(), source.show("HEAD", &path))).collect()
}

fn clone(url: &str, options: &[&str]) -> (bool, String) {
    let target = folder();
    let mut command = git();
    command.args(options).args(["clone", "--quiet", "--depth=1", url]);
    let output = must(command.arg(target.path().join("clone")).output());
    let is_cloned = target.path().join("clone/a.txt").is_file();
    assert_eq!(output.status.success(), is_cloned);
    (is_cloned, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn git_clones_from_the_server_of_the_tests_and_is_refused_by_it() {
    let server = GitServer::start();
    server.source("shop").commit([("a.txt", "text\n")]);
    let (plain, tls) = (server.url("shop"), server.tls_url("shop"));
    let trusting = format!("http.sslCAInfo={}", server.ca_file());
    let trusting = ["-c", &trusting, "-c", "http.followRedirects=false"];
    assert!(clone(&plain, &trusting).0 && clone(&tls, &trusting).0);
    assert!(!clone(&tls, &[]).0, "the certificate is not trusted");

    server.tell(&json!({"do": "token", "token": "sesame"}));
    let with = |token: &str| tls.replace("https://", &format!("https://any:{token}@"));
    assert!(!clone(&tls, &trusting).0 && !clone(&with("other"), &trusting).0);
    assert!(clone(&with("sesame"), &trusting).0);
    assert!(server.requests().iter().any(|request| request["password"] == "other"));
    for status in [403, 200] {
        server.tell(&json!({"do": "status", "status": status, "echo": true}));
        let (is_cloned, words) = clone(&with("sesame"), &trusting);
        assert!(!is_cloned && words.contains("refused"), "{words}");
    }
    server.tell(&json!({"do": "status", "status": null}));
    server.tell(&json!({"do": "token", "token": null}));
    server.tell(&json!({"do": "redirect", "to": tls.trim_end_matches("/shop.git")}));
    assert!(!clone(&plain, &trusting).0);
}

#[test]
fn responses_of_the_server_of_the_tests_are_held_and_go_on() {
    let server = GitServer::start();
    server.source("shop").commit([("a.txt", "text\n")]);
    let url = server.url("shop");
    for phase in ["refs", "pack"] {
        server.hold(phase);
        let cloning = std::thread::spawn({
            let url = url.clone();
            move || clone(&url, &[]).0
        });
        server.await_held();
        assert!(!cloning.is_finished());
        server.release();
        assert!(cloning.join().unwrap(), "{phase}");
    }
    assert_eq!(server.fetches(), 2);
}
