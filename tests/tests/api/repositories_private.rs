//! Private repositories: the token reaches the server of the repository, and nothing and nobody
//! else: no process list, environment, log, response, file or other server.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, folder};

use crate::alerting_channels::is_in_files;
use crate::keys::{client_with, text};
use crate::repositories_git::{
    GitServer, REPOSITORIES, connect_with, create, ended, failed, indexed, path_text, settled,
    setup, start_sync, sync, synced,
};
use crate::repositories_shop::{SHOP, shop};

/// A token that must not be found where it does not belong.
const TOKEN: &str = "planted0git0token0Zk3vQ9";

/// Starts a server of git that requires the token, and one of ours that trusts it.
fn start() -> (GitServer, Server) {
    let git = GitServer::start();
    git.tell(&json!({"do": "token", "token": TOKEN}));
    let server = setup()
        .set("repositories.schemes", "\"https\"")
        .set("repositories.ca_file", &format!("\"{}\"", git.ca_file()))
        .set("log.level", "\"debug\"")
        .start();
    (git, server)
}

/// Returns the forms in which git sent the token: as it is, and as a header has it.
fn forms(git: &GitServer) -> BTreeSet<String> {
    let sent = |request: &Value| {
        let header = text(&request["authorization"]);
        header.split_once(' ').map(|(_, encoded)| encoded.to_owned())
    };
    let mut forms: BTreeSet<String> = git.requests().iter().filter_map(sent).collect();
    forms.insert(TOKEN.to_owned());
    forms
}

/// Checks that the token is in no file of the server and no line of its log.
#[track_caller]
fn check_stored(git: &GitServer, server: &Server) {
    let copy = folder();
    let target = copy.path().join("copy");
    let backup = server.cli(["backup", path_text(&target)]);
    assert!(backup.status.success(), "{backup:?}");
    let log = server.log().join("\n");
    for form in forms(git) {
        for folder in [server.data(), target.as_path()] {
            assert!(!is_in_files(folder, &form), "{form} is in {}", folder.display());
        }
        assert!(!log.contains(&form), "{form} is logged");
    }
}

/// Returns the ids of the processes that a process has started, and of those that they started.
fn descendants(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> =
        processes().into_iter().filter_map(|id| Some((id, parent(id)?))).collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(of) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(id, _)| *id));
        next += 1;
    }
    found.remove(0);
    found
}

fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn of_process(pid: u32, file: &str) -> String {
    let bytes = std::fs::read(Path::new("/proc").join(pid.to_string()).join(file));
    String::from_utf8_lossy(&bytes.unwrap_or_default()).replace('\0', " ")
}

#[track_caller]
fn put(client: &Client, id: &str, change: &Value) -> Value {
    client.request("PUT", &format!("{REPOSITORIES}/{id}")).json(change).send().expect(200)
}

#[test]
fn a_private_repository_is_synced_with_its_token_which_is_never_shown() {
    let (git, mut server) = start();
    shop(&git);
    let client = server.client();
    let body = json!({"url": git.tls_url("shop"), "access_token": TOKEN});
    let made = create(&client, &body);
    let id = text(&made["id"]);
    let shown = synced(&client, id);
    assert_eq!(indexed(&client, id).len(), SHOP.len());
    let requests = git.requests();
    assert!(requests.iter().all(|request| request["tls"] == true));
    assert!(requests.iter().any(|request| request["password"] == TOKEN));
    let listed = client.get(REPOSITORIES).expect(200);
    let changed = put(&client, id, &json!({"auto_sync": false}));
    let runs = client.get(&format!("{REPOSITORIES}/{id}/syncs")).expect(200);
    let seen = [made.clone(), shown, listed, changed, runs].map(|seen| seen.to_string()).concat();
    assert!(!seen.contains(TOKEN), "{seen}");
    check_stored(&git, &server);

    // It is there after a restart, and goes with the repository.
    server.kill9();
    server.restart();
    let client = server.client();
    sync(&client, id);
    check_stored(&git, &server);
}

#[test]
fn the_token_is_in_no_command_line_and_no_environment() {
    let (git, server) = start();
    shop(&git);
    let client = server.client();
    for phase in ["refs", "pack"] {
        git.hold(phase);
        let branch = json!({"url": git.tls_url("shop"), "access_token": TOKEN});
        let id = text(&create(&client, &branch)["id"]).to_owned();
        git.await_held();
        let children = descendants(server.pid());
        let names: Vec<String> = children.iter().map(|pid| of_process(*pid, "cmdline")).collect();
        assert!(names.iter().any(|name| name.contains("git")), "git does not run: {names:?}");
        let forms = forms(&git);
        assert!(forms.len() > 1, "the token was sent: {forms:?}");
        for pid in children.into_iter().chain([server.pid()]) {
            for file in ["cmdline", "environ"] {
                let content = of_process(pid, file);
                let found = forms.iter().find(|form| content.contains(*form));
                assert_eq!(found, None, "{file} of {content}");
            }
        }
        // Nor in what git has written so far.
        check_stored(&git, &server);
        git.release();
        synced(&client, &id);
        client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
    }
    check_stored(&git, &server);
}

#[test]
fn a_wrong_token_is_reported_and_not_shown() {
    let (git, server) = start();
    let (source, _) = shop(&git);
    let client = server.client();
    for body in [
        json!({"url": git.tls_url("shop")}),
        json!({"url": git.tls_url("shop"), "branch": "main", "access_token": "wrong0planted0token"}),
    ] {
        let id = text(&create(&client, &body)["id"]).to_owned();
        let error = failed(&client, &id);
        assert_eq!(error["code"], "authentication_failed", "{error}");
        let shown = settled(&client, &id).to_string()
            + &client.get(&format!("{REPOSITORIES}/{id}/syncs")).expect(200).to_string();
        assert!(!shown.contains("wrong0planted0token"), "{shown}");
        client.get(&format!("{REPOSITORIES}/{id}/files")).refused(409, "repository_not_synced");
        client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
    }
    assert!(!server.log().join("\n").contains("wrong0planted0token"));

    let body = json!({"url": git.tls_url("shop"), "access_token": "wrong0planted0token"});
    let id = text(&create(&client, &body)["id"]).to_owned();
    failed(&client, &id);
    put(&client, &id, &json!({"access_token": TOKEN}));
    let run = ended(&client, &id, text(&start_sync(&client, &id)["sync_id"]));
    assert_eq!(run["status"], "completed", "{run}");
    let files = indexed(&client, &id);
    // A token that was revoked leaves what is indexed.
    git.tell(&json!({"do": "token", "token": "another"}));
    source.commit([("NEWS.md", "# News\n")]);
    let run = ended(&client, &id, text(&start_sync(&client, &id)["sync_id"]));
    assert_eq!(run["status"], "failed", "{run}");
    assert_eq!(failed(&client, &id)["code"], "authentication_failed");
    assert_eq!(indexed(&client, &id), files);
}

#[test]
fn a_server_that_repeats_the_token_does_not_make_it_public() {
    let (git, server) = start();
    shop(&git);
    let client = server.client();
    let reader = client_with(&client, json!(["read"]));
    for status in [403, 500, 200] {
        git.tell(&json!({"do": "status", "status": status, "echo": true}));
        let body = json!({"url": git.tls_url("shop"), "access_token": TOKEN});
        let id = text(&create(&client, &body)["id"]).to_owned();
        failed(&client, &id);
        assert!(git.requests().iter().any(|request| request["password"] == TOKEN));
        let path = format!("{REPOSITORIES}/{id}");
        let shown = reader.get(&path).expect(200).to_string()
            + &reader.get(&format!("{path}/syncs")).expect(200).to_string();
        assert!(!shown.contains(TOKEN), "{status}: {shown}");
        client.delete(&path).expect(200);
        check_stored(&git, &server);
        git.tell(&json!({"do": "forget"}));
    }
}

#[test]
fn a_redirect_does_not_take_the_token_elsewhere() {
    let (git, server) = start();
    shop(&git);
    let other = GitServer::start();
    shop(&other);
    let client = server.client();
    for target in [
        other.url("shop").trim_end_matches("/shop.git"),
        other.tls_url("shop").trim_end_matches("/shop.git"),
        "http://169.254.169.254",
        "file://",
    ] {
        git.tell(&json!({"do": "redirect", "to": target}));
        let body = json!({"url": git.tls_url("shop"), "access_token": TOKEN});
        let id = text(&create(&client, &body)["id"]).to_owned();
        let error = failed(&client, &id);
        assert!(error["code"].is_string(), "{error}");
        client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
        let sent = other.requests();
        assert!(sent.iter().all(|request| request["authorization"].is_null()), "{sent:?}");
    }
}

#[test]
fn a_token_is_sent_only_to_the_server_of_its_repository() {
    let (git, server) = start();
    shop(&git);
    let public = git.source("public");
    public.commit([("a.md", "# A\n")]);
    let client = server.client();
    connect_with(&client, &json!({"url": git.tls_url("shop"), "access_token": TOKEN}));
    git.tell(&json!({"do": "token", "token": null}));
    git.tell(&json!({"do": "forget"}));
    connect_with(&client, &json!({"url": git.tls_url("public")}));
    assert!(git.requests().iter().all(|request| request["authorization"].is_null()));
}
