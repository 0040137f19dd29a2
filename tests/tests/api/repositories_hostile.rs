//! Repositories that are made to do harm: nothing of them is executed or followed, and they take
//! neither memory, disk nor time without a limit.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, Stopwatch, folder};

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, Source, connect, connect_with, create, failed, indexed, must,
    path_text, search, settled, setup, sync,
};
use crate::repositories_shop::{SHOP, shop};

/// How long a sync of a bomb may take, in seconds.
const BOMB_SECONDS: u64 = 60;
/// KiB that a bomb may add to the memory of the server.
const BOMB_KIB: u64 = 192 << 10;
/// Bytes of a response that shows lines of a repository, at most.
const RESPONSE_BYTES: usize = 2 << 20;
/// Bytes of a line that is always shown whole.
const LINE_BYTES: usize = 8 << 10;
/// Bytes that fetches which were limited to 8 MiB may leave.
const DISK_BYTES: u64 = 32 << 20;

/// Returns how much memory a server has used at most, in KiB.
fn peak_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(u64::MAX)
}

/// Returns the bytes of all files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
        _ => entry.metadata().map_or(0, |data| data.len()),
    };
    entries.map(size).sum()
}

/// Writes an object as it is, and returns its id.
#[track_caller]
fn object(source: &Source, kind: &str, contents: &[u8]) -> String {
    let id = source.git_with(["hash-object", "-w", "-t", kind, "--literally", "--stdin"], contents);
    String::from_utf8_lossy(&id).trim().to_owned()
}

/// Returns the bytes of a tree.
fn tree(entries: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend(format!("{mode} {name}\0").into_bytes());
        let digit = |at: usize| id.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.extend((0..id.len()).step_by(2).filter_map(digit));
    }
    bytes
}

/// Makes a tree the newest commit of the main branch.
#[track_caller]
fn commit_tree(source: &Source, tree: &str) {
    let commit = source.git(["commit-tree", "-m", "a tree", tree]);
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    source.git(["update-ref", "refs/heads/main", &commit]);
}

/// Connects a repository of the server of git, which ends synced or failed.
#[track_caller]
fn outcome(client: &Client, git: &GitServer, name: &str) -> Value {
    let watch = Stopwatch::start();
    let id = text(&create(client, &json!({"url": git.url(name)}))["id"]).to_owned();
    let found = settled(client, &id);
    assert!(watch.elapsed().as_secs() < BOMB_SECONDS, "{name} took {:?}", watch.elapsed());
    assert_eq!(client.get("/readyz").status, 200);
    found
}

#[test]
fn nothing_of_a_repository_is_executed_or_followed() {
    let git = GitServer::start();
    let source = git.source("evil");
    let marked = folder();
    let marker = marked.path().join("marker");
    let touch = format!("#!/bin/sh\ntouch {}\n", marker.display());
    for (path, contents) in SHOP {
        source.write(path, contents);
    }
    for hook in ["post-checkout", "post-merge", "pre-commit", "reference-transaction"] {
        source.write(&format!("hooks/{hook}"), &touch);
        source.write(&format!(".githooks/{hook}"), &touch);
    }
    source.write(".gitattributes", "* filter=evil diff=evil merge=evil text\n");
    source.write(
        ".gitconfig",
        format!(
            "[core]\n fsmonitor = touch {0}\n[filter \"evil\"]\n smudge = touch {0}\n",
            marker.display()
        ),
    );
    source.write(
        ".gitmodules",
        "[submodule \"m\"]\n\tpath = m\n\turl = file:///etc\n\tupdate = checkout\n",
    );
    source.write(".lfsconfig", "[lfs]\n\turl = http://169.254.169.254/\n");
    source.write("config", format!("[core]\n hooksPath = {}\n", marked.path().display()));
    must(std::os::unix::fs::symlink("/etc/passwd", source.folder().join("passwd.py")));
    must(std::os::unix::fs::symlink("../../../../../etc", source.folder().join("etc")));
    must(std::os::unix::fs::symlink(".", source.folder().join("loop")));
    source.commit([]);
    let entry = format!("160000 {}\tm\n", source.head());
    source.git_with(["update-index", "--add", "--index-info"], entry.as_bytes());
    source.git(["commit", "--quiet", "--message=a submodule"]);
    let server = setup().start();
    let client = server.client();
    let body = json!({
        "url": git.url("evil"), "include_patterns": ["**/*"], "exclude_patterns": [],
    });
    let id = connect_with(&client, &body);
    let files = indexed(&client, &id);
    for (path, _) in SHOP {
        assert!(files.contains(&path.to_owned()), "{path}: {files:?}");
    }
    for path in ["passwd.py", "etc", "etc/passwd", "loop", "loop/README.md", "m", "m/passwd"] {
        assert!(!files.contains(&path.to_owned()), "{path}: {files:?}");
        let read = client.get(&format!("{REPOSITORIES}/{id}/files/{path}"));
        read.refused(404, "file_not_found");
    }
    assert!(!json!(search(&client, &id, "root bin nologin")).to_string().contains("/root:"));
    assert!(!marker.exists(), "something was executed");
    let elsewhere = git.requests();
    let is_own = |request: &Value| text(&request["path"]).starts_with("/evil.git/");
    assert!(elsewhere.iter().all(is_own), "{elsewhere:?}");
}

#[test]
fn paths_that_lead_out_of_the_repository_are_no_files() {
    let git = GitServer::start();
    let server = setup().start();
    let client = server.client();
    let names = [
        "..",
        ".",
        ".git",
        ".GIT",
        "git~1",
        "../../evil.py",
        "/etc/evil.py",
        "a\nb",
        ".git\u{200c}",
        "",
    ];
    for (number, name) in names.into_iter().enumerate() {
        let source = git.source(&format!("evil{number}"));
        let blob = object(&source, "blob", b"EVIL = 1\n");
        let inner = object(&source, "tree", &tree(&[("100644", "evil.py", &blob)]));
        // As a directory, and as a file beside an innocent one.
        let mut entries = [("100644", "good.py", blob.as_str()), ("40000", name, inner.as_str())];
        entries.sort_by_key(|(_, name, _)| name.as_bytes());
        commit_tree(&source, &object(&source, "tree", &tree(&entries)));
        let found = outcome(&client, &git, &format!("evil{number}"));
        if found["status"] == "synced" {
            for path in indexed(&client, text(&found["id"])) {
                let is_plain =
                    |part: &str| !["", ".", "..", ".git"].contains(&part.to_lowercase().as_str());
                assert!(path.split('/').all(is_plain), "{name:?}: {path:?}");
            }
        }
    }
    let stray = ["evil.py", "../evil.py"].map(|name| server.data().join(name));
    assert!(stray.iter().all(|path| !path.exists()));
    assert!(!Path::new("/etc/evil.py").exists());
}

#[test]
fn submodules_with_options_of_git_for_urls_do_nothing() {
    let git = GitServer::start();
    let server = setup().start();
    let client = server.client();
    let marked = folder();
    let marker = marked.path().join("marker");
    for (number, url) in ["--upload-pack=touch MARKER", "ext::sh -c touch% MARKER", "-uMARKER"]
        .map(|url| url.replace("MARKER", path_text(&marker)))
        .iter()
        .enumerate()
    {
        let name = format!("modules{number}");
        let source = git.source(&name);
        source.write(".gitmodules", format!("[submodule \"m\"]\n\tpath = m\n\turl = {url}\n"));
        source.commit([("a.py", "A = 1\n")]);
        let entry = format!("160000 {}\tm\n", source.head());
        source.git_with(["update-index", "--add", "--index-info"], entry.as_bytes());
        source.git(["commit", "--quiet", "--message=a submodule"]);
        outcome(&client, &git, &name);
        assert!(!marker.exists(), "{url}");
    }
}

#[test]
fn trees_that_multiply_are_not_walked_to_the_end() {
    let git = GitServer::start();
    let source = git.source("bomb");
    // Ten entries at each of ten levels: 10^10 paths in eleven objects.
    let mut id = object(&source, "blob", b"BOMB = 1\n");
    let mut mode = "100644";
    for _ in 0..10 {
        let names: Vec<String> = (0..10).map(|name| format!("d{name}")).collect();
        let entries: Vec<(&str, &str, &str)> =
            names.iter().map(|name| (mode, name.as_str(), id.as_str())).collect();
        id = object(&source, "tree", &tree(&entries));
        mode = "40000";
    }
    commit_tree(&source, &id);
    let server = setup().start();
    let client = server.client();
    let before = peak_kib(&server);
    let found = outcome(&client, &git, "bomb");
    assert_eq!(found["status"], "failed", "{found}");
    assert_eq!(found["last_error"]["code"], "too_large", "{found}");
    let grown = peak_kib(&server) - before;
    assert!(grown < BOMB_KIB, "{grown} KiB more memory");
}

#[test]
fn more_files_than_the_limit_are_refused_and_as_many_are_synced() {
    let git = GitServer::start();
    let source = git.source("many");
    for number in 0..20 {
        source.write(&format!("f{number}.py"), format!("A = {number}\n"));
    }
    source.commit([]);
    let server = setup().set("repositories.files_max", "20").start();
    let client = server.client();
    let id = connect(&client, &git.url("many"));
    source.commit([("one_more.py", "A = 1\n")]);
    let path = format!("{REPOSITORIES}/{id}/sync");
    assert!((200..=202).contains(&client.post(&path, &json!({})).status));
    assert_eq!(failed(&client, &id)["code"], "too_large");
    assert_eq!(indexed(&client, &id).len(), 20, "what was there stays");
    source.git(["rm", "--quiet", "one_more.py"]);
    source.commit([]);
    sync(&client, &id);
}

#[test]
fn deep_directories_end() {
    let git = GitServer::start();
    let source = git.source("deep");
    let path = format!("{}deep.py", "d/".repeat(1_500));
    let stream = format!(
        "commit refs/heads/main\ncommitter Ann <ann@example.com> 1767322800 +0000\ndata 1\na\n\
         M 100644 inline {path}\ndata 6\nA = 1\n\nM 100644 inline good.py\ndata 6\nB = 1\n\n"
    );
    source.git_with(["fast-import", "--quiet"], stream.as_bytes());
    let server = setup().start();
    let found = outcome(&server.client(), &git, "deep");
    if found["status"] == "synced" {
        let files = indexed(&server.client(), text(&found["id"]));
        assert!(files.contains(&"good.py".to_owned()), "{files:?}");
    }
}

#[test]
fn large_objects_take_neither_memory_nor_disk() {
    let git = GitServer::start();
    // Much text from few bytes, and few bytes that cannot be compressed.
    let zeros = git.source("zeros");
    zeros.write("zeros.txt", vec![b'0'; 256 << 20]);
    zeros.commit([("good.py", "def the_good_part():\n    return 1\n")]);
    let noise = git.source("noise");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut file = must(std::fs::File::create(noise.folder().join("noise.bin")));
    for _ in 0..128 {
        let part: Vec<u8> = (0..1 << 16).flat_map(|_| random()).collect();
        must(file.write_all(&part));
    }
    noise.git(["config", "uploadpack.allowFilter", "false"]);
    noise.commit([("good.py", "A = 1\n")]);
    let server = setup().set("repositories.git_bytes_max", "\"8MiB\"").start();
    let client = server.client();
    let (before, stored) = (peak_kib(&server), bytes_below(server.data()));
    let found = outcome(&client, &git, "zeros");
    assert_eq!(found["status"], "synced", "{found}");
    assert_eq!(indexed(&client, text(&found["id"])), ["good.py"]);
    let found = outcome(&client, &git, "noise");
    assert_eq!(found["status"], "failed", "{found}");
    assert_eq!(found["last_error"]["code"], "too_large", "{found}");
    let grown = peak_kib(&server) - before;
    assert!(grown < BOMB_KIB, "{grown} KiB more memory");
    let grown = bytes_below(server.data()).saturating_sub(stored);
    assert!(grown < DISK_BYTES, "{grown} bytes more on disk");
}

/// Checks that lines are those of a commit, and that the long ones are cut.
#[track_caller]
fn check_cut(source: &Source, commit: &str, shown: &Value) {
    // What an error shows has as many lines as its snippet.
    let mut shown = shown.clone();
    let lines = text(&shown["snippet"]).split('\n').count() as u64;
    shown["line_end"] = json!(shown["line_start"].as_u64().map(|first| first + lines - 1));
    source.check_references(commit, &json!([shown]));
    let longest = text(&shown["snippet"]).split('\n').map(str::len).max();
    assert!(longest <= Some(LINE_BYTES + '…'.len_utf8()), "{longest:?} bytes");
}

#[test]
fn long_lines_are_cut_in_searches_and_errors() {
    let git = GitServer::start();
    let source = git.source("long");
    let long = format!("kangaroo = 1 # {}\n", "kangaroo é ".repeat(5_000));
    let contents = format!("# short\n{}# end\n", long.repeat(11));
    for number in 0..30 {
        source.write(&format!("src/long{number}.py"), format!("# {number}\n{contents}"));
    }
    let whole = format!("wallaby = \"{}\"\n", "x".repeat(LINE_BYTES - 20));
    let commit = source.commit([("whole.py", whole.as_str())]);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("long"));
    for query in ["q=kangaroo&limit=50", "symbol=kangaroo&limit=50"] {
        let response = client.get(&format!("{REPOSITORIES}/{id}/search?{query}"));
        assert!(response.body.len() < RESPONSE_BYTES, "{query}: {} bytes", response.body.len());
        let found = response.expect(200)["results"].as_array().cloned().unwrap_or_default();
        assert!(found.len() >= 30, "{query}: {} results", found.len());
        found.iter().for_each(|hit| check_cut(&source, &commit, hit));
        assert!(found.iter().any(|hit| hit["truncated"] == true), "{query}");
    }
    let found = search(&client, &id, "wallaby");
    assert_eq!((found.len(), &found[0]["truncated"]), (1, &json!(false)));
    source.check_references(&commit, &json!(found));
    let backtrace: Vec<String> = (0..20).map(|at| format!("src/long{at}.py:7 in f")).collect();
    let body = json!({
        "exception": {"type": "Long", "message": "long lines", "backtrace": backtrace},
    });
    let error = client.post("/api/v1/errors", &body).data(201);
    let response = client.get(&format!("/api/v1/errors/{}", text(&error["id"])));
    assert!(response.body.len() < RESPONSE_BYTES, "{} bytes", response.body.len());
    let shown = response.data(200)["source"].as_array().cloned().unwrap_or_default();
    assert_eq!(shown.len(), 20);
    for one in &shown {
        check_cut(&source, &commit, one);
        assert_eq!(one["truncated"], true);
    }
}

#[test]
fn repositories_with_many_branches_are_synced() {
    let git = GitServer::start();
    let (source, commit) = shop(&git);
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    for number in 0..30_000 {
        packed.push_str(&format!("{commit} refs/heads/b{number:05}\n"));
    }
    must(std::fs::write(source.folder().join(".git/packed-refs"), packed));
    let server = setup().start();
    let client = server.client();
    connect(&client, &git.url("shop"));
    let id = connect_with(&client, &json!({"url": git.url("shop"), "branch": "b29999"}));
    assert_eq!(indexed(&client, &id).len(), SHOP.len());
}

#[test]
fn addresses_that_are_not_allowed_are_not_reached() {
    let git = GitServer::start();
    shop(&git);
    let server = Setup::new().set("repositories.schemes", "\"https http\"").start();
    let client = server.client();
    let port = git.url("shop").rsplit(':').next().unwrap_or_default().to_owned();
    for url in [
        git.url("shop"),
        git.tls_url("shop"),
        format!("http://localhost:{port}"),
        format!("http://[::ffff:127.0.0.1]:{port}"),
        format!("http://2130706433:{port}"),
        format!("http://0.0.0.0:{port}"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://10.0.0.1/shop.git".to_owned(),
    ] {
        // Refused at once, or by the sync.
        let response = client.post(REPOSITORIES, &json!({ "url": url }));
        if response.status == 422 {
            response.refused_for(422, "invalid_field", "url");
            continue;
        }
        let id = text(&response.expect(201)["id"]).to_owned();
        let error = failed(&client, &id);
        assert!(error["code"].is_string(), "{url}: {error}");
        // Several of these are spellings of one URL.
        client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
    }
    assert!(git.requests().is_empty(), "{:?}", git.requests());
}

#[test]
fn files_of_this_machine_are_read_only_if_that_is_configured() {
    let elsewhere = folder();
    let source = Source::new(elsewhere.path().join("shop"));
    source.commit(SHOP);
    let body = json!({"url": format!("file://{}", path_text(source.folder()))});
    let server = setup().start();
    server.client().post(REPOSITORIES, &body).refused_for(422, "invalid_field", "url");
    let server = setup().set("repositories.schemes", "\"file\"").start();
    let id = connect_with(&server.client(), &body);
    assert_eq!(indexed(&server.client(), &id).len(), SHOP.len());
    // Other addresses are no URLs then either.
    let url = json!({"url": "https://git.example.com/shop.git"});
    server.client().post(REPOSITORIES, &url).refused_for(422, "invalid_field", "url");
}
