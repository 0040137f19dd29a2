//! What a sync indexes: the files that git lists, without those that are no text of people; only
//! changed files again; and why a sync fails.

use serde_json::{Value, json};
use telltale_tests::{Client, eventually};

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, Source, connect, connect_with, create, encoded, ended, failed,
    indexed, search, setup, start_sync, sync, synced,
};
use crate::repositories_shop::{SHOP, shop};

/// Bytes of the largest file that is indexed, by default.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Returns the files of the newest commit that can be indexed, by path: regular files of text.
#[track_caller]
fn texts(source: &Source) -> Vec<String> {
    let mut paths = Vec::new();
    for file in source.tree() {
        let Ok(path) = String::from_utf8(file.path) else { continue };
        if !file.mode.starts_with("100") || file.bytes > FILE_BYTES_MAX {
            continue;
        }
        let contents = source.show("HEAD", &path);
        let is_text = !contents.contains(&0) && std::str::from_utf8(&contents).is_ok();
        let is_generated = String::from_utf8_lossy(&contents).contains("@generated");
        if is_text && !is_generated {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

/// Returns `count` of the statistics of a sync.
fn stat(run: &Value, count: &str) -> u64 {
    run["stats"][count].as_u64().unwrap_or(u64::MAX)
}

#[track_caller]
fn last_commit(client: &Client, id: &str) -> String {
    text(&client.get(&format!("{REPOSITORIES}/{id}")).expect(200)["last_commit"]).to_owned()
}

#[test]
fn the_files_of_a_sync_are_those_that_git_lists_for_the_patterns() {
    let git = GitServer::start();
    let (source, _) = shop(&git);
    source.commit([
        ("src/shop/deep/er/est.py", "DEPTH = 3\n"),
        ("src/shop/gen/api.py", "API = 1\n"),
        (".github/workflows/ci.yml", "on: push\n"),
        ("web/node.config.js", "export default {}\n"),
    ]);
    let server = setup().start();
    let client = server.client();
    for (include, exclude) in [
        (vec!["**/*"], vec![]),
        (vec!["src/**"], vec![]),
        (vec!["**/*.py"], vec!["**/gen/**"]),
        (vec!["src/shop/*.py", "web/**"], vec!["web/*.js"]),
        (vec!["docs/*.md", "server/src/*.rs", ".github/**"], vec!["**/lib.rs"]),
        (vec!["**/*.{ts,js}"], vec!["**/check*"]),
        (vec!["no/such/**"], vec![]),
    ] {
        let body = json!({
            "url": git.url("shop"), "include_patterns": include, "exclude_patterns": exclude,
        });
        let id = text(&create(&client, &body)["id"]).to_owned();
        let shown = synced(&client, &id);
        // Git has no braces in patterns.
        let wanted = include.iter().flat_map(|pattern| match *pattern {
            "**/*.{ts,js}" => vec!["**/*.ts", "**/*.js"],
            other => vec![other],
        });
        let included = wanted.map(|pattern| format!(":(glob){pattern}"));
        let excluded = exclude.iter().map(|pattern| format!(":(glob,exclude){pattern}"));
        let pathspecs: Vec<String> = included.chain(excluded).collect();
        let pathspecs: Vec<&str> = pathspecs.iter().map(String::as_str).collect();
        let mut expected = source.matching(&pathspecs);
        expected.sort();
        assert_eq!(indexed(&client, &id), expected, "{body}");
        assert_eq!(shown["stats"]["files_indexed"], expected.len(), "{body}");
        let runs = client.get(&format!("{REPOSITORIES}/{id}/syncs")).expect(200)["syncs"].clone();
        assert_eq!(stat(&runs[0], "files_processed"), expected.len() as u64, "{runs}");
        assert_eq!(stat(&runs[0], "chunks_created"), shown["stats"]["chunks_indexed"], "{runs}");
        client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
    }
}

#[test]
fn the_default_patterns_leave_out_code_of_others_and_what_is_generated() {
    let git = GitServer::start();
    let (source, _) = shop(&git);
    let of_others = [
        "node_modules/left-pad/index.js",
        "web/node_modules/a/index.js",
        "vendor/lib.go",
        "web/app.min.js",
        "Cargo.lock",
        "package-lock.json",
    ];
    for path in of_others {
        source.write(path, "let a = 1;\n");
    }
    source.commit([]);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let mut expected = texts(&source);
    assert_eq!(expected.len(), SHOP.len() + of_others.len());
    expected.retain(|path| !of_others.contains(&path.as_str()));
    assert_eq!(indexed(&client, &id), expected);
}

#[test]
fn a_second_sync_reads_only_what_has_changed() {
    let git = GitServer::start();
    let (source, first) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let fetched = git.fetches();
    let run = sync(&client, &id);
    assert_eq!(stat(&run, "files_processed"), 0, "{run}");
    assert_eq!(git.fetches(), fetched, "the commit is there already");
    assert!(first.starts_with(&last_commit(&client, &id)));

    // One file is changed.
    let changed = source.show("HEAD", "src/shop/orders.py");
    let changed = String::from_utf8_lossy(&changed).replace("order_total", "sum_of_order");
    let second = source.commit([("src/shop/orders.py", &*changed)]);
    let run = sync(&client, &id);
    assert_eq!(stat(&run, "files_processed"), 1, "{run}");
    assert!(stat(&run, "chunks_created") >= 1, "{run}");
    assert!(second.starts_with(&last_commit(&client, &id)));
    let found = search(&client, &id, "sum_of_order");
    assert_eq!(found[0]["file_path"], "src/shop/orders.py", "{found:?}");
    source.check_references(&second, &json!(found));
    let old = search(&client, &id, "order_total");
    let is_old = |hit: &Value| {
        hit["file_path"] == "src/shop/orders.py" && text(&hit["snippet"]).contains("order_total")
    };
    assert!(!old.iter().any(is_old), "{old:?}");

    // One is added, one is renamed, two are deleted.
    source.git(["mv", "web/cart.ts", "web/basket.ts"]);
    source.git(["rm", "--quiet", "README.md", "docs/operations.md"]);
    source.commit([("src/shop/stock.py", "COPIES = 12\n")]);
    let run = sync(&client, &id);
    assert!((1..=2).contains(&stat(&run, "files_processed")), "a rename changes no text: {run}");
    assert_eq!(indexed(&client, &id), texts(&source));
    // The index is as if it were made at once.
    let other = connect_with(&client, &json!({"url": git.url("shop"), "branch": "main"}));
    for words in ["cart", "charge card", "shipments of a courier", "sum_of_order"] {
        let places = |id: &str| {
            let found = search(&client, id, words);
            found
                .iter()
                .map(|hit| (hit["file_path"].clone(), hit["line_start"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&id), places(&other), "{words}");
    }
}

#[test]
fn rewritten_history_is_followed() {
    let git = GitServer::start();
    let (source, _) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect_with(&client, &json!({"url": git.url("shop"), "branch": "main"}));
    // A branch that has nothing in common with the one before, and then the one before again.
    source.git(["checkout", "--quiet", "--orphan", "fresh"]);
    source.git(["rm", "-r", "--quiet", "--force", "."]);
    let fresh = source.commit([("only.py", "def the_only_function():\n    return 1\n")]);
    let before = String::from_utf8_lossy(&source.git(["rev-parse", "main"])).trim().to_owned();
    source.git(["branch", "--force", "main", "fresh"]);
    let run = sync(&client, &id);
    assert_eq!(stat(&run, "files_processed"), 1, "{run}");
    assert_eq!(indexed(&client, &id), ["only.py"]);
    assert!(fresh.starts_with(&last_commit(&client, &id)));
    source.git(["branch", "--force", "main", &before]);
    sync(&client, &id);
    assert_eq!(indexed(&client, &id).len(), SHOP.len());
    assert!(before.starts_with(&last_commit(&client, &id)));
}

#[test]
fn odd_files_are_indexed_or_left_out_and_none_stops_a_sync() {
    let git = GitServer::start();
    let source = git.source("odd");
    let names = [
        "with space.py",
        "quote\"s'.py",
        "percent%20.py",
        "ünï/cödé.py",
        "plus+&=#?.py",
        "-dash.py",
        "new\nline.py",
        "tab\t.py",
        "back\\slash.py",
        "a:b.py",
        "HEAD",
        "refs/heads/main.py",
        "日本語.md",
        "[brackets].py",
        ".hidden",
    ];
    for (number, name) in names.iter().enumerate() {
        source.write(name, format!("def odd_{number}():\n    return {number}\n"));
    }
    source.write("empty.py", "");
    source.write("no_end.py", "def without_line_end():\n    return 1");
    source.write("crlf.py", "def with_crlf():\r\n    return 1\r\n");
    source.write("only_lines.txt", "\n\n\n");
    source.write("bom.py", "\u{feff}def with_bom():\n    return 1\n");
    source.write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    source.write("latin1.txt", b"caf\xe9\n");
    source.write("utf16.txt", b"\xff\xfeh\0i\0\n\0");
    source.write("generated.py", "# @generated by a tool\nA = 1\n");
    source.write("line.js", format!("let all = [{}];\n", "1234567,".repeat(100_000)));
    source.write("huge.json", format!("[{}0]\n", "1234567,".repeat(50 << 17)));
    source.write("deep.json", format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000)));
    source.write("deep.py", format!("x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000)));
    source.write("broken.rs", "fn ((((( { impl struct <<< \"\n".repeat(500));
    source.write("run.sh", "#!/bin/sh\necho run\n");
    source.git(["config", "core.quotePath", "false"]);
    source.commit([]);
    source.git(["update-index", "--chmod=+x", "run.sh"]);
    // A path that is not UTF-8, and modes of their own.
    let blob = |contents: &str| {
        let id = source.git_with(["hash-object", "-w", "--stdin"], contents.as_bytes());
        String::from_utf8_lossy(&id).trim().to_owned()
    };
    let (link, commit) = (blob("/etc/passwd"), source.head());
    let mut entries = format!("120000 {link}\tlink.py\0160000 {commit}\tmodule\0").into_bytes();
    entries.extend(format!("100644 {}\t", blob("A = 1\n")).into_bytes());
    entries.extend(b"caf\xe9.py\0");
    source.git_with(["update-index", "-z", "--index-info"], &entries);
    source.git(["commit", "--quiet", "--message=odd modes"]);
    let server = setup().start();
    let client = server.client();
    let body = json!({
        "url": git.url("odd"), "include_patterns": ["**/*"], "exclude_patterns": [],
    });
    let id = connect_with(&client, &body);
    // Paths with control characters may be left out.
    let mut expected = texts(&source);
    expected.retain(|path| !path.contains(char::is_control));
    assert!(
        expected.contains(&"line.js".to_owned()) && !expected.contains(&"huge.json".to_owned())
    );
    let mut found = indexed(&client, &id);
    found.retain(|path| !path.contains(char::is_control));
    assert_eq!(found, expected);
    let head = source.head();
    for path in &expected {
        let encoded: Vec<String> = path.split('/').map(encoded).collect();
        let read = client.get(&format!("{REPOSITORIES}/{id}/files/{}", encoded.join("/")));
        let read = read.expect(200);
        assert_eq!(text(&read["content"]).as_bytes(), source.show(&head, path), "{path}");
        assert_eq!(read["file_path"], **path);
    }
    for path in ["link.py", "module", "huge.json", "image.png", "latin1.txt", "generated.py"] {
        let path = format!("{REPOSITORIES}/{id}/files/{path}");
        client.get(&path).refused(404, "file_not_found");
    }
    for words in ["odd_3", "without_line_end", "with_crlf", "with_bom"] {
        let found = search(&client, &id, words);
        assert!(!found.is_empty(), "{words}");
        source.check_references(&head, &json!(found));
    }
    // Of a line of 800 KB the beginning is shown.
    let found = search(&client, &id, "1234567");
    source.check_references(&head, &json!(found));
    let line = found.iter().find(|hit| hit["file_path"] == "line.js");
    assert!(
        line.is_some_and(|hit| hit["truncated"] == true && text(&hit["snippet"]).len() > 1_000)
    );
}

#[test]
fn sources_that_cannot_be_synced_are_reported_by_reason() {
    let git = GitServer::start();
    shop(&git);
    git.source("empty");
    let server = setup().start();
    let client = server.client();
    let error = |body: Value| {
        let id = text(&create(&client, &body)["id"]).to_owned();
        let error = failed(&client, &id);
        let read = client.get(&format!("{REPOSITORIES}/{id}/files"));
        read.refused(409, "repository_not_synced");
        error
    };
    assert_eq!(error(json!({"url": git.url("empty")}))["code"], "empty_repository");
    let unknown = error(json!({"url": git.url("shop"), "branch": "no-such-branch"}));
    assert_eq!(unknown["code"], "branch_not_found", "{unknown}");
    assert!(text(&unknown["message"]).contains("no-such-branch"), "{unknown}");
    let tag = git.source("tag");
    tag.commit([("a.md", "# A\n")]);
    tag.git(["checkout", "--quiet", "--detach"]);
    assert_eq!(error(json!({"url": git.url("tag")}))["code"], "no_default_branch");
    let missing = error(json!({"url": git.url("nothing")}));
    assert_eq!(missing["code"], "repository_not_found", "{missing}");
    // No git server, one without TLS, and one with an unknown certificate.
    let closed = error(json!({"url": "http://127.0.0.1:1/shop.git"}));
    assert!(closed["code"].is_string(), "{closed}");
    let plain = git.url("shop").replace("http:", "https:");
    assert!(error(json!({"url": plain}))["code"].is_string());
    assert!(error(json!({"url": git.tls_url("shop")}))["code"].is_string());
}

#[test]
fn a_branch_that_appears_later_is_synced() {
    let git = GitServer::start();
    let source = git.source("shop");
    let server = setup().start();
    let client = server.client();
    let id = text(&create(&client, &json!({"url": git.url("shop")}))["id"]).to_owned();
    assert_eq!(failed(&client, &id)["code"], "empty_repository");
    source.commit(SHOP);
    sync(&client, &id);
    assert_eq!(indexed(&client, &id).len(), SHOP.len());
    // The default branch of the remote repository is followed.
    source.git(["checkout", "--quiet", "-b", "trunk"]);
    let trunk = source.commit([("TRUNK.md", "# Trunk\n")]);
    sync(&client, &id);
    assert!(trunk.starts_with(&last_commit(&client, &id)));
}

#[test]
fn a_fetch_that_takes_too_long_ends() {
    let git = GitServer::start();
    let (source, _) = shop(&git);
    let server = setup().set("repositories.fetch_timeout", "\"2s\"").start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    source.commit([("NEWS.md", "# News\n")]);
    git.hold("pack");
    let run = ended(&client, &id, text(&start_sync(&client, &id)["sync_id"]));
    assert_eq!(run["status"], "failed", "{run}");
    assert_eq!(failed(&client, &id)["code"], "timed_out");
    git.release();
    sync(&client, &id);
    assert!(indexed(&client, &id).contains(&"NEWS.md".to_owned()));
}

#[test]
fn repositories_are_synced_when_their_branch_has_moved() {
    let git = GitServer::start();
    let sources = ["moving", "resting", "manual"].map(|name| {
        let source = git.source(name);
        source.commit([("a.md", "# A\n")]);
        source
    });
    let server = setup().set("repositories.auto_sync_every", "\"500ms\"").start();
    let client = server.client();
    let [moving, resting, manual] =
        [("moving", true), ("resting", true), ("manual", false)].map(|(name, auto)| {
            connect_with(&client, &json!({"url": git.url(name), "auto_sync": auto}))
        });
    let [moved, _, unseen] = &sources;
    let (head, other) = (moved.commit([("b.md", "# B\n")]), unseen.commit([("b.md", "# B\n")]));
    eventually("the branch that has moved to be synced", || {
        head.starts_with(&last_commit(&client, &moving)).then_some(())
    });
    git.tell(&json!({"do": "forget"}));
    let looks = |name: &str| {
        let path = format!("/{name}.git/info/refs");
        git.requests().iter().filter(|request| request["path"] == path).count()
    };
    eventually("branches to be looked at", || (looks("resting") >= 3).then_some(()));
    assert_eq!(looks("manual"), 0);
    assert!(!other.starts_with(&last_commit(&client, &manual)));
    let runs = |id: &str| {
        let listed = client.get(&format!("{REPOSITORIES}/{id}/syncs")).expect(200);
        listed["syncs"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((runs(&moving), runs(&resting), runs(&manual)), (2, 1, 1));
    assert_eq!(git.fetches(), 0, "nothing is fetched that is there");
}
