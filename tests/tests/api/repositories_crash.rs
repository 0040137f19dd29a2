//! Crashes in the middle of syncs: what was indexed serves as a whole until the next index is
//! complete, and the next sync completes.

use std::collections::BTreeMap;

use serde_json::json;
use telltale_tests::{Client, Server, eventually};

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, Source, connect, connect_with, contents, create, indexed, search,
    settled, setup, start_sync, sync, synced,
};
use crate::repositories_shop::{SHOP, shop};

/// Kills during one sync, at different times.
const KILLS: usize = 6;
/// Files of a repository whose sync takes a while.
const FILES: usize = 200;

/// Checks that the index is that of one commit, as a whole.
#[track_caller]
fn check_index(client: &Client, id: &str, commits: &BTreeMap<String, BTreeMap<String, Vec<u8>>>) {
    let path = format!("{REPOSITORIES}/{id}");
    let shown = || client.get(&path).expect(200);
    // A sync that is resumed may replace the index between two requests.
    let (before, read) = eventually("responses about one commit", || {
        let before = shown();
        let paths = indexed(client, id);
        let read: BTreeMap<String, String> = paths
            .into_iter()
            .map(|file| {
                let read = client.get(&format!("{path}/files/{file}"));
                let content = if read.status == 200 {
                    text(&read.json()["content"]).to_owned()
                } else {
                    String::new()
                };
                (file, content)
            })
            .collect();
        (shown()["last_commit"] == before["last_commit"]).then_some((before, read))
    });
    let short = text(&before["last_commit"]);
    let Some((_, files)) = commits.iter().find(|(commit, _)| commit.starts_with(short)) else {
        panic!("{short} is no commit of {:?}", commits.keys())
    };
    assert_eq!(before["stats"]["files_indexed"], files.len(), "{before}");
    assert!(read.keys().eq(files.keys()), "{:?}", read.keys());
    for (file, content) in read {
        assert!(files[&file] == content.as_bytes(), "{file} is not that of {short}");
    }
}

/// Lets the interrupted sync be resumed, or begins another one, until a commit is indexed.
#[track_caller]
fn recover(client: &Client, id: &str, commit: &str) {
    if settled(client, id)["status"] == "failed" {
        sync(client, id);
    }
    let shown = synced(client, id);
    assert!(commit.starts_with(text(&shown["last_commit"])), "{shown}");
}

#[test]
fn a_crash_while_git_fetches_leaves_the_index_before() {
    let git = GitServer::start();
    let (source, first) = shop(&git);
    let mut server = setup().start();
    let client = server.client();
    let id = connect_with(&client, &json!({"url": git.url("shop"), "auto_sync": false}));
    let second = source.commit([("src/shop/news.py", "def print_the_news():\n    return 1\n")]);
    git.hold("pack");
    let run = start_sync(&client, &id);
    git.await_held();
    server.kill9();
    server.restart();
    let client = server.client();
    let path = format!("{REPOSITORIES}/{id}");
    // The fetch is still held: the sync has failed, waits, or runs again.
    let shown = client.get(&path).expect(200);
    assert!(first.starts_with(text(&shown["last_commit"])), "{shown}");
    assert_eq!(indexed(&client, &id).len(), SHOP.len());
    let found = search(&client, &id, "retry with backoff");
    assert_eq!(found[0]["file_path"], "src/shop/retry.py");
    source.check_references(&first, &json!(found));
    let question = json!({"question": "Where are cards charged?", "repository": id});
    let answered = client.post("/api/v1/chat", &question).expect(200);
    source.check_references(&first, &answered["references"]);
    let news = search(&client, &id, "print_the_news");
    assert!(!news.iter().any(|hit| hit["file_path"] == "src/shop/news.py"), "{news:?}");

    git.release();
    recover(&client, &id, &second);
    let run = format!("{path}/syncs/{}", text(&run["sync_id"]));
    let run = client.get(&run).expect(200);
    assert_ne!(run["status"], "started", "no sync runs for ever: {run}");
    assert_eq!(indexed(&client, &id).len(), SHOP.len() + 1);
    assert_eq!(search(&client, &id, "print_the_news")[0]["file_path"], "src/shop/news.py");
}

#[test]
fn a_crash_in_the_first_sync_is_made_up_for() {
    let git = GitServer::start();
    let (_source, commit) = shop(&git);
    let mut server = setup().start();
    let client = server.client();
    git.hold("pack");
    let made = create(&client, &json!({"url": git.url("shop")}));
    let id = text(&made["id"]);
    git.await_held();
    for _ in 0..2 {
        server.kill9();
        server.restart();
        let refused = server.client().get(&format!("{REPOSITORIES}/{id}/search?q=cards"));
        refused.refused(409, "repository_not_synced");
    }
    git.release();
    recover(&server.client(), id, &commit);
    assert_eq!(indexed(&server.client(), id).len(), SHOP.len());
}

/// Kills a server after a sync has got as far as `is_due` says.
fn kill_when(server: &mut Server, mut is_due: impl FnMut(&Client) -> bool) {
    let client = server.client();
    eventually("the time of a crash", || is_due(&client).then_some(()));
    server.kill9();
    server.restart();
}

fn commit_all(source: &Source, number: usize) -> String {
    for file in 0..FILES {
        let body: String = (0..40)
            .map(|line| format!("def of_{file}_{line}():\n    \"\"\"Version {number}.\"\"\"\n    return {line}\n\n\n"))
            .collect();
        source.write(&format!("part_{}/file_{file}.py", file % 7), body);
    }
    source.commit([])
}

#[test]
fn crashes_at_any_time_of_a_sync_leave_one_whole_index() {
    let git = GitServer::start();
    let source = git.source("large");
    let mut commits = BTreeMap::new();
    let first = commit_all(&source, 0);
    commits.insert(first, contents(&source));
    let mut server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("large"));
    check_index(&client, &id, &commits);
    let mut last = String::new();
    for number in 1..=KILLS {
        // A sync that is resumed may have looked at the branch already.
        settled(&server.client(), &id);
        last = commit_all(&source, number);
        commits.insert(last.clone(), contents(&source));
        let fetched = git.fetches();
        start_sync(&server.client(), &id);
        // After the fetch, the later the more requests were answered meanwhile.
        let mut answered = 0;
        kill_when(&mut server, |client| {
            if git.fetches() == fetched {
                return false;
            }
            client.get("/readyz");
            answered += 1;
            answered > 4 * (number - 1) * number
        });
        check_index(&server.client(), &id, &commits);
    }
    recover(&server.client(), &id, &last);
    commits.retain(|commit, _| *commit == last);
    check_index(&server.client(), &id, &commits);
}
