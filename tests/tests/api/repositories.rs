//! Repositories: connected, synced, listed, changed, deleted; what is refused; and one sync at a
//! time.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers, eventually, parse_iso};

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, connect, connect_with, create, ended, failed, fields, indexed,
    settled, setup, start_sync, sync, synced,
};
use crate::repositories_shop::shop;

/// An id that no repository has.
const MISSING: &str = "repo_01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[track_caller]
fn ids(client: &Client, query: &str) -> Vec<String> {
    let listed = client.get(&format!("{REPOSITORIES}?{query}")).expect(200);
    let all = listed["repositories"].as_array().into_iter().flatten();
    all.map(|one| text(&one["id"]).to_owned()).collect()
}

#[track_caller]
fn put(client: &Client, id: &str, change: &Value) -> Value {
    client.request("PUT", &format!("{REPOSITORIES}/{id}")).json(change).send().expect(200)
}

#[test]
fn a_repository_is_connected_synced_shown_and_listed() {
    covers!("POST /api/v1/repositories", Happy);
    covers!("GET /api/v1/repositories", Happy);
    covers!("GET /api/v1/repositories/{id}", Happy);
    let git = GitServer::start();
    let (_source, commit) = shop(&git);
    let mut server = setup().start();
    let client = server.client();
    let body = json!({
        "url": git.url("shop"), "branch": "main",
        "include_patterns": ["src/**", "web/**"], "exclude_patterns": ["**/payments.py"],
    });
    git.hold("refs");
    let made = create(&client, &body);
    let id = text(&made["id"]);
    assert!(id.starts_with("repo_") && id.len() == 5 + 26, "{id}");
    assert_eq!((&made["name"], &made["url"]), (&json!("shop"), &body["url"]));
    assert_eq!((&made["last_synced_at"], &made["last_commit"]), (&Value::Null, &Value::Null));
    assert!(["pending", "syncing"].contains(&text(&made["status"])), "{made}");
    let first_sync = text(&made["sync_id"]);
    assert!(first_sync.starts_with("sync_") && first_sync.len() == 5 + 26, "{made}");
    git.release();

    let shown = synced(&client, id);
    let run = ended(&client, id, first_sync);
    assert_eq!(run["status"], "completed", "{run}");
    let short = text(&shown["last_commit"]);
    assert!((7..=12).contains(&short.len()) && commit.starts_with(short), "{shown}");
    assert!(parse_iso(text(&shown["last_synced_at"])) >= parse_iso(text(&run["started_at"])));
    assert_eq!(shown["branch"], "main");
    let settings = json!({
        "auto_sync": shown["settings"]["auto_sync"], "include_patterns": body["include_patterns"],
        "exclude_patterns": body["exclude_patterns"],
    });
    assert_eq!(shown["settings"], settings);
    assert!(settings["auto_sync"].is_boolean(), "{settings}");
    let stats = &shown["stats"];
    assert_eq!(fields(stats), ["chunks_indexed", "diagrams", "files_indexed", "wiki_pages"]);
    assert_eq!(stats["files_indexed"], 4);
    for count in ["chunks_indexed", "wiki_pages", "diagrams"] {
        assert!(stats[count].as_u64() > Some(0), "{count}: {stats}");
    }

    let listed = client.get(REPOSITORIES).expect(200);
    let listed = listed["repositories"][0].clone();
    let expected = json!({
        "id": id, "name": "shop", "url": body["url"], "branch": "main", "status": "synced",
        "last_synced_at": shown["last_synced_at"], "last_commit": short,
        "files_indexed": 4, "chunks_indexed": stats["chunks_indexed"],
    });
    for (name, value) in expected.as_object().into_iter().flatten() {
        assert_eq!(&listed[name], value, "{name}");
    }
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&format!("{REPOSITORIES}/{id}")).expect(200), shown);
    assert_eq!(indexed(&client, id).len(), 4, "the index outlives the process");
}

#[test]
fn repositories_are_listed_newest_first() {
    let git = GitServer::start();
    let server = setup().start();
    let client = server.client();
    let made: Vec<String> = ["a", "b", "c"]
        .map(|name| {
            git.source(name).commit([("a.md", "# A\n")]);
            connect(&client, &git.url(name))
        })
        .into_iter()
        .rev()
        .collect();
    assert_eq!(ids(&client, ""), made);
    assert_eq!(ids(&client, "limit=1&offset=1"), made[1..2]);
    assert!(ids(&client, "offset=3").is_empty());
}

#[test]
fn a_repository_is_changed() {
    covers!("PUT /api/v1/repositories/{id}", Happy);
    let git = GitServer::start();
    let (source, _) = shop(&git);
    source.git(["checkout", "--quiet", "-b", "release/2"]);
    let release = source.commit([("RELEASE.md", "# Release 2\n")]);
    source.git(["checkout", "--quiet", "main"]);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let path = format!("{REPOSITORIES}/{id}");
    let before = client.get(&path);
    let etag = before.must_header("etag").to_owned();
    assert!(!indexed(&client, &id).contains(&"RELEASE.md".to_owned()));

    let changed = put(&client, &id, &json!({"auto_sync": false}));
    assert_eq!(changed["settings"]["auto_sync"], false, "{changed}");
    assert_eq!(
        changed["settings"]["include_patterns"],
        before.json()["settings"]["include_patterns"]
    );
    let stale = client.request("PUT", &path).header("if-match", &etag);
    stale.json(&json!({"auto_sync": true})).send().refused(412, "precondition_failed");
    client
        .request("DELETE", &path)
        .header("if-match", &etag)
        .send()
        .refused(412, "precondition_failed");

    // What is indexed follows the settings without another request.
    put(&client, &id, &json!({"branch": "release/2", "include_patterns": ["*.md"]}));
    let files = eventually("the other branch to be indexed", || {
        let found = synced(&client, &id);
        let is_done = release.starts_with(text(&found["last_commit"]));
        is_done.then(|| indexed(&client, &id))
    });
    assert_eq!(files, ["README.md", "RELEASE.md", "docs/operations.md"]);
    assert_eq!(client.get(&path).expect(200)["branch"], "release/2");
}

#[test]
fn a_deleted_repository_leaves_nothing() {
    covers!("DELETE /api/v1/repositories/{id}", Happy);
    let git = GitServer::start();
    shop(&git);
    let mut server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let path = format!("{REPOSITORIES}/{id}");
    let question = json!({"question": "How are cards charged?", "repository": id});
    let session = client.post("/api/v1/chat", &question).expect(200)["session_id"].clone();
    assert_eq!(client.delete(&path).expect(200), json!({"id": id, "deleted": true}));
    let gone = |client: &Client| {
        client.get(&path).refused(404, "repository_not_found");
        client.delete(&path).refused(404, "repository_not_found");
        client.get(&format!("{path}/syncs")).refused(404, "repository_not_found");
        client.get(&format!("{path}/files")).refused(404, "repository_not_found");
        client.get(&format!("{path}/search?q=cards")).refused(404, "repository_not_found");
        client.post("/api/v1/chat", &question).refused(404, "repository_not_found");
        let session = format!("/api/v1/chat/sessions/{}", text(&session));
        client.get(&session).refused(404, "session_not_found");
        assert!(ids(client, "").is_empty());
    };
    gone(&client);
    server.kill9();
    server.restart();
    gone(&server.client());
    // The same URL is free again, also while a sync runs.
    git.hold("pack");
    let client = server.client();
    let again = text(&create(&client, &json!({"url": git.url("shop")}))["id"]).to_owned();
    git.await_held();
    client.delete(&format!("{REPOSITORIES}/{again}")).expect(200);
    git.release();
    assert_ne!(connect(&client, &git.url("shop")), again);
    client.get(&format!("{REPOSITORIES}/{again}")).refused(404, "repository_not_found");
}

#[test]
fn invalid_repositories_are_refused() {
    covers!("POST /api/v1/repositories", Refusal);
    covers!("GET /api/v1/repositories", Refusal);
    let server = Server::start();
    let client = server.client();
    let refused = |changes: Value, field: &str| {
        let mut body = json!({"url": "https://git.example.com/shop.git"});
        for (name, value) in changes.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        client.post(REPOSITORIES, &body).refused_for(422, "invalid_field", field);
    };
    client.post(REPOSITORIES, &json!({})).refused_for(422, "missing_field", "url");
    for url in [
        "shop",
        "/srv/git/shop.git",
        "git@git.example.com:shop.git",
        "ext::sh -c touch% /tmp/telltale-evil",
        "file:///srv/git/shop.git",
        "ssh://git@git.example.com/shop.git",
        "git://git.example.com/shop.git",
        "http://git.example.com/shop.git",
        "--upload-pack=touch /tmp/telltale-evil",
        "-u",
        "https://",
        "https://user:secret@git.example.com/shop.git",
        "https://token@git.example.com/shop.git",
    ] {
        refused(json!({"url": url}), "url");
    }
    for branch in ["-x", "--upload-pack=touch /tmp/x", "a b", "a..b", "a~1", "/a", "a/", "a\nb", ""]
    {
        refused(json!({"branch": branch}), "branch");
    }
    refused(json!({"access_token": "two words"}), "access_token");
    refused(json!({"access_token": "line\nfeed"}), "access_token");
    refused(json!({"include_patterns": ["a[b"]}), "include_patterns");
    refused(json!({"exclude_patterns": [""]}), "exclude_patterns");
    refused(json!({"exclude_patterns": vec!["a"; 1_000]}), "exclude_patterns");
    let typing_error = json!({"url": "https://git.example.com/a.git", "brunch": "main"});
    client.post(REPOSITORIES, &typing_error).refused_for(400, "invalid_parameter", "brunch");
    client.post_text(REPOSITORIES, "[]").refused(400, "invalid_json");
    client.get(&format!("{REPOSITORIES}?limit=x")).refused(400, "invalid_parameter");
    assert!(ids(&client, "").is_empty());
}

#[test]
fn unknown_repositories_and_syncs_are_reported() {
    covers!("GET /api/v1/repositories/{id}", Refusal);
    covers!("PUT /api/v1/repositories/{id}", Refusal);
    covers!("DELETE /api/v1/repositories/{id}", Refusal);
    covers!("POST /api/v1/repositories/{id}/sync", Refusal);
    covers!("GET /api/v1/repositories/{id}/syncs", Refusal);
    covers!("GET /api/v1/repositories/{id}/syncs/{sync_id}", Refusal);
    let git = GitServer::start();
    git.source("a").commit([("a.md", "# A\n")]);
    git.source("b").commit([("b.md", "# B\n")]);
    let server = setup().start();
    let client = server.client();
    for id in [MISSING, "repo_x", "snap_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let path = format!("{REPOSITORIES}/{id}");
        client.get(&path).refused(404, "repository_not_found");
        let put = client.request("PUT", &path).json(&json!({"auto_sync": true})).send();
        put.refused(404, "repository_not_found");
        client.delete(&path).refused(404, "repository_not_found");
        client.post(&format!("{path}/sync"), &json!({})).refused(404, "repository_not_found");
        client.get(&format!("{path}/syncs")).refused(404, "repository_not_found");
        let run = format!("{path}/syncs/sync_01ARZ3NDEKTSV4RRFFQ69G5FAV");
        client.get(&run).refused(404, "repository_not_found");
    }
    let [a, b] = ["a", "b"].map(|name| connect(&client, &git.url(name)));
    let run = |id: &str, sync: &str| client.get(&format!("{REPOSITORIES}/{id}/syncs/{sync}"));
    run(&a, "sync_01ARZ3NDEKTSV4RRFFQ69G5FAV").refused(404, "sync_not_found");
    let of_a = sync(&client, &a);
    run(&a, text(&of_a["sync_id"])).expect(200);
    run(&b, text(&of_a["sync_id"])).refused(404, "sync_not_found");
    let put =
        |change: Value| client.request("PUT", &format!("{REPOSITORIES}/{a}")).json(&change).send();
    put(json!({"branch": "-x"})).refused_for(422, "invalid_field", "branch");
    put(json!({"include_patterns": ["a[b"]})).refused_for(422, "invalid_field", "include_patterns");
    put(json!({"url": git.url("b")})).refused_for(400, "invalid_parameter", "url");
}

#[test]
fn a_branch_of_a_url_is_connected_once() {
    let git = GitServer::start();
    let (source, _) = shop(&git);
    source.git(["branch", "other"]);
    let server = setup().start();
    let client = server.client();
    let url = git.url("shop");
    let body = |branch: &str| json!({"url": url, "branch": branch});
    connect_with(&client, &body("main"));
    client.post(REPOSITORIES, &body("main")).refused(409, "repository_exists");
    let other = connect_with(&client, &body("other"));
    let path = format!("{REPOSITORIES}/{other}");
    let put = client.request("PUT", &path).json(&json!({"branch": "main"})).send();
    put.refused(409, "repository_exists");
    assert_eq!(ids(&client, "").len(), 2);
}

#[test]
fn a_repeated_request_connects_one_repository() {
    let git = GitServer::start();
    shop(&git);
    let server = setup().start();
    let client = server.client();
    let body = json!({"url": git.url("shop")});
    let post = || {
        let request = client.request("POST", REPOSITORIES).header("idempotency-key", "once");
        request.json(&body).send()
    };
    let first = post().expect(201);
    let again = post();
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.expect(201)["id"], first["id"]);
    assert_eq!(ids(&client, "").len(), 1);
}

#[test]
fn a_repository_has_one_sync_at_a_time() {
    covers!("POST /api/v1/repositories/{id}/sync", Happy);
    covers!("GET /api/v1/repositories/{id}/syncs", Happy);
    covers!("GET /api/v1/repositories/{id}/syncs/{sync_id}", Happy);
    let git = GitServer::start();
    let (source, _) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    source.commit([("NEWS.md", "# News\n")]);
    git.hold("pack");
    let first = start_sync(&client, &id);
    git.await_held();
    assert_eq!(start_sync(&client, &id), first, "the one that runs");
    let path = format!("{REPOSITORIES}/{id}");
    let shown = client.get(&path).expect(200);
    assert_eq!((&shown["status"], &shown["sync_id"]), (&json!("syncing"), &first["sync_id"]));
    let running = format!("{path}/syncs/{}", text(&first["sync_id"]));
    let running = client.get(&running).expect(200);
    assert_eq!(
        (&running["status"], &running["completed_at"]),
        (&json!("started"), &Value::Null),
        "{running}"
    );
    assert!(!indexed(&client, &id).contains(&"NEWS.md".to_owned()), "the index before serves");
    git.release();
    let run = ended(&client, &id, text(&first["sync_id"]));
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(run["started_at"], first["started_at"]);
    assert!(parse_iso(text(&run["completed_at"])) >= parse_iso(text(&run["started_at"])));
    for count in ["files_processed", "chunks_created", "pages_generated"] {
        assert!(run["stats"][count].is_u64(), "{run}");
    }
    assert!(indexed(&client, &id).contains(&"NEWS.md".to_owned()));
    let later = sync(&client, &id);
    let listed = client.get(&format!("{path}/syncs")).expect(200);
    let listed = listed["syncs"].as_array().cloned().unwrap_or_default();
    assert_eq!((listed.len(), &listed[0], &listed[1]), (3, &later, &run), "newest first");
    let one = client.get(&format!("{path}/syncs?limit=1&offset=1")).expect(200);
    assert_eq!(one["syncs"], json!([run]));
}

#[test]
fn repositories_wait_for_one_another_and_all_are_synced() {
    let git = GitServer::start();
    let server = setup().set("repositories.syncs_at_once", "1").start();
    let client = server.client();
    git.hold("pack");
    let made = ["a", "b", "c"].map(|name| {
        git.source(name).commit([("a.md", "# A\n")]);
        text(&create(&client, &json!({"url": git.url(name)}))["id"]).to_owned()
    });
    git.await_held();
    let states = || made.clone().map(|id| client.get(&format!("{REPOSITORIES}/{id}")).expect(200));
    let waiting = states().iter().filter(|found| found["status"] == "pending").count();
    assert_eq!(waiting, 2);
    assert_eq!(git.fetches(), 1, "one at once");
    git.release();
    for id in &made {
        synced(&client, id);
    }
}

#[test]
fn a_sync_that_failed_is_reported_and_the_next_one_may_complete() {
    let git = GitServer::start();
    let (source, _) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let files = indexed(&client, &id);
    source.commit([("NEWS.md", "# News\n")]);
    git.tell(&json!({"do": "status", "status": 500}));
    let run = ended(&client, &id, text(&start_sync(&client, &id)["sync_id"]));
    assert_eq!(run["status"], "failed", "{run}");
    assert!(run["completed_at"].is_string(), "{run}");
    let error = failed(&client, &id);
    assert!(error["code"].is_string(), "{error}");
    assert_eq!(indexed(&client, &id), files, "the index before still serves");
    git.tell(&json!({"do": "status", "status": null}));
    sync(&client, &id);
    let shown = settled(&client, &id);
    assert_eq!((&shown["status"], &shown["last_error"]), (&json!("synced"), &Value::Null));
    assert_eq!(indexed(&client, &id).len(), files.len() + 1);
}
