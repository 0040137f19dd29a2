//! The files of the console: their headers, encodings and builds.

use std::io::Read as _;

use serde_json::json;
use telltale_tests::{Client, Response, Server, Setup, covers};

/// Returns the paths that the shell names, each with the build in it.
fn named(shell: &Response) -> Vec<String> {
    let text = shell.text();
    let parts = text.split('"').filter(|part| part.starts_with("/console/-/"));
    parts.map(str::to_owned).collect()
}

/// Returns the build that the server names.
#[track_caller]
pub(crate) fn build(client: &Client) -> String {
    let server = client.get("/api/v1/server").data(200);
    server["console_build"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn every_page_is_the_shell_with_a_policy_that_admits_only_own_files() {
    covers!("GET /console", Happy);
    covers!("GET /console/{page}", Happy);
    let server = Server::start();
    let client = server.client().without_key();
    let shell = client.get("/console");
    assert_eq!(shell.must_header("content-type"), "text/html; charset=utf-8");
    assert_eq!(client.get("/console/errors/err_1?from=now-1h&x=y").text(), shell.text());
    assert_eq!(client.get("/console/settings").text(), shell.text());
    let policy = shell.must_header("content-security-policy").to_owned();
    let (before, after) = policy.split_once("'sha256-").unwrap_or_default();
    assert_eq!(before, "default-src 'none'; script-src 'self' ");
    let (hash, after) = after.split_once('\'').unwrap_or_default();
    assert_eq!(
        after,
        "; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    );
    assert_eq!(hash.len(), 44, "a SHA-256 in base64");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(shell.must_header(name), value, "{name}");
    }
    let etag = shell.must_header("etag").to_owned();
    let again = client.request("GET", "/console").header("if-none-match", &etag).send();
    assert_eq!(again.status, 304);
    assert!(!shell.text().contains("{{build}}"));
    client.get("/console/").refused(404, "not_found");
}

#[test]
fn a_file_never_changes_under_its_path() {
    covers!("GET /console/-/{build}/{file}", Happy);
    let server = Server::start();
    let client = server.client().without_key();
    let paths = named(&client.get("/console"));
    assert!(paths.len() >= 10, "{paths:?}");
    for path in paths {
        let file = client.get(&path);
        file.expect_status(200);
        let cache = "public, max-age=31536000, immutable";
        assert_eq!(file.must_header("cache-control"), cache, "{path}");
        assert_eq!(file.must_header("x-content-type-options"), "nosniff");
        let media = match path.rsplit('.').next() {
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        assert_eq!(file.must_header("content-type"), media, "{path}");
        let etag = file.must_header("etag").to_owned();
        let again = client.request("GET", &path).header("if-none-match", &etag).send();
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
    }
}

#[test]
fn files_are_compressed_with_what_the_browser_accepts() {
    let server = Server::start();
    let client = server.client();
    let path = format!("/console/-/{}/vendor/preact.mjs", build(&client));
    let plain = client.get(&path);
    let encoded = |accept: &str| {
        let response = client.request("GET", &path).header("accept-encoding", accept).send();
        assert_eq!(response.must_header("content-encoding"), accept);
        assert_eq!(response.must_header("etag"), plain.must_header("etag"));
        assert!(response.body.len() * 2 < plain.body.len(), "{accept}: {}", response.body.len());
        response.body
    };
    let mut gunzipped = Vec::new();
    let read = flate2::read::GzDecoder::new(&encoded("gzip")[..]).read_to_end(&mut gunzipped);
    assert!(read.is_ok() && gunzipped == plain.body);
    let unpacked = zstd::decode_all(&encoded("zstd")[..]).unwrap_or_default();
    assert!(unpacked == plain.body);
}

#[test]
fn a_file_of_another_build_is_refused_so_that_the_page_offers_to_reload() {
    covers!("GET /console/-/{build}/{file}", Refusal);
    covers!("GET /api/v1/server", Happy);
    covers!("GET /api/v1/server", Refusal);
    let server = Server::start();
    let client = server.client();
    let own = build(&client);
    let other = client.get("/console/-/0123456789abcdef/js/main.js");
    other.refused(404, "console_build_not_found");
    assert_eq!(other.must_header("cache-control"), "no-store");
    for missing in [
        "js/none.js",
        "index.html",
        "vendor/VENDOR.toml",
        "js",
        "..%2F..%2FCargo.toml",
        "js/../index.html",
    ] {
        let path = format!("/console/-/{own}/{missing}");
        client.get(&path).refused(404, "not_found");
    }
    client.without_key().get("/api/v1/server").refused(401, "unauthorized");
    let described = client.get("/api/v1/server").data(200);
    assert_eq!(described["name"], "telltale");
    for area in ["metrics", "errors", "queues", "alerts", "keys", "console"] {
        assert!(
            described["areas"].as_array().is_some_and(|all| all.contains(&json!(area))),
            "{area}"
        );
    }
}

#[test]
fn browsers_are_sent_from_the_root_to_the_console_and_programs_are_not() {
    let server = Server::start();
    let client = server.client().without_key();
    let index = client.get("/").expect(200);
    assert_eq!((&index["name"], &index["console"]), (&json!("telltale"), &json!("/console")));
    let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let response = client.request("GET", "/").header("accept", accept).send();
    assert_eq!((response.status, response.must_header("location")), (303, "/console"));
    assert_eq!(response.must_header("vary").to_ascii_lowercase(), "accept");
    let any = client.request("GET", "/").header("accept", "*/*").send();
    assert_eq!(any.status, 200);
}

#[test]
fn a_host_name_of_a_status_page_has_no_console() {
    let server = Setup::new().set("status.domain", "\"status.example.com\"").start();
    let client = server.client().without_key();
    for path in ["/console", "/api/v1/session", "/"] {
        let response = client
            .request("GET", path)
            .header("host", "none.status.example.com")
            .header("accept", "text/html")
            .send();
        assert_eq!(response.status, 404, "{path}");
    }
}
