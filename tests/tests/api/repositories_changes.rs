//! What happens while a repository is synced: it is deleted, or gets another token; and an index
//! that is damaged.

use std::path::{Path, PathBuf};

use serde_json::json;
use telltale_tests::eventually;

use crate::keys::text;
use crate::repositories_git::{
    GitServer, REPOSITORIES, connect, connect_with, create, failed, indexed, setup, start_sync,
};
use crate::repositories_shop::{SHOP, shop};

/// Returns the files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.flat_map(|entry| below(entry.path())).collect()
}

#[test]
fn a_repository_that_is_deleted_while_it_is_fetched_does_not_hold_others_up() {
    let (held, git) = (GitServer::start(), GitServer::start());
    let (source, _) = shop(&held);
    shop(&git);
    // A single sync runs at a time.
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &held.url("shop"));
    source.commit([("NEWS.md", "# News\n")]);
    held.hold("pack");
    let run = start_sync(&client, &id);
    held.await_held();
    client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
    // The server of git still holds the response.
    let other = connect(&client, &git.url("shop"));
    assert_eq!(indexed(&client, &other).len(), SHOP.len());
    let path = format!("{REPOSITORIES}/{id}");
    client.get(&path).refused(404, "repository_not_found");
    let run = format!("{path}/syncs/{}", text(&run["sync_id"]));
    assert_eq!(client.get(&run).status, 404);
    held.release();
}

#[test]
fn a_token_that_arrives_while_a_sync_fails_is_tried() {
    let git = GitServer::start();
    git.tell(&json!({"do": "token", "token": "right0token"}));
    shop(&git);
    let server = setup()
        .set("repositories.schemes", "\"https\"")
        .set("repositories.ca_file", &format!("\"{}\"", git.ca_file()))
        .start();
    let client = server.client();
    let body = json!({"url": git.tls_url("shop"), "access_token": "wrong0token"});
    let id = text(&create(&client, &body)["id"]).to_owned();
    assert_eq!(failed(&client, &id)["code"], "authentication_failed");
    git.hold("info");
    start_sync(&client, &id);
    git.await_held();
    let body = json!({"access_token": "right0token", "auto_sync": false});
    client.request("PUT", &format!("{REPOSITORIES}/{id}")).json(&body).send().expect(200);
    git.release();
    // The sync that runs fails first.
    let path = format!("{REPOSITORIES}/{id}");
    eventually("a sync with the new token", || {
        (client.get(&path).expect(200)["status"] == "synced").then_some(())
    });
    assert_eq!(indexed(&client, &id).len(), SHOP.len());
}

#[test]
fn a_damaged_index_is_made_anew_when_branches_are_looked_at() {
    let git = GitServer::start();
    shop(&git);
    let mut server = setup().set("repositories.auto_sync_every", "\"500ms\"").start();
    let id = connect_with(&server.client(), &json!({"url": git.url("shop"), "auto_sync": true}));
    server.kill9();
    for file in files_below(&server.data().join("files")) {
        std::fs::write(&file, b"damaged").unwrap_or_else(|error| panic!("{error}"));
    }
    server.restart();
    let client = server.client();
    let search = format!("{REPOSITORIES}/{id}/search?q=cards");
    eventually("the damaged index to be made anew", || {
        let response = client.get(&search);
        assert!(matches!(response.status, 200 | 503), "{response:?}");
        (response.status == 200).then_some(())
    });
}
