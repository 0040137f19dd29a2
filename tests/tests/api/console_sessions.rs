//! Sessions of the console: opened by key or code, bound to their key, and safe from other sites.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, Response, Server, Setup, covers, eventually};

use crate::keys::{make, text};

const SESSION: &str = "/api/v1/session";
const SITE: &str = "sec-fetch-site";

/// Returns the name and the value of the cookie that a response sets, as a request sends it.
#[track_caller]
fn cookie(response: &Response) -> String {
    let set = response.must_header("set-cookie");
    set.split(';').next().unwrap_or_default().to_owned()
}

#[track_caller]
fn sign_in(client: &Client, key: &str) -> String {
    let response = client.without_key().post(SESSION, &json!({"key": key}));
    response.expect_status(201);
    cookie(&response)
}

/// Sends a request with a cookie and other headers, and without a key.
fn with_cookie(
    client: &Client,
    call: (&str, &str),
    cookie: &str,
    headers: &[(&str, &str)],
) -> Response {
    let client = client.without_key();
    let mut request = client.request(call.0, call.1).header("cookie", cookie);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if call.0 == "POST" { request.json(&json!({"name": "d"})).send() } else { request.send() }
}

fn status(client: &Client, cookie: &str) -> u16 {
    with_cookie(client, ("GET", SESSION), cookie, &[]).status
}

#[test]
fn a_session_has_the_user_and_the_scopes_of_its_key() {
    covers!("POST /api/v1/session", Happy);
    covers!("GET /api/v1/session", Happy);
    covers!("DELETE /api/v1/session", Happy);
    let server = Server::start();
    let client = server.client();
    let key = make(&client, json!(["read"]), json!({}));
    let opened = client.without_key().post(SESSION, &json!({"key": key["key"]}));
    let caller = opened.data(201);
    assert_eq!((&caller["user"], &caller["scopes"]), (&json!("ops@example.com"), &json!(["read"])));
    assert_eq!(opened.must_header("cache-control"), "no-store");
    let set = opened.must_header("set-cookie").to_owned();
    let (pair, attributes) = set.split_once("; ").unwrap_or_default();
    assert_eq!(attributes, "Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict");
    assert!(!opened.text().contains(pair.split_once('=').map_or("", |(_, token)| token)));

    let own = with_cookie(&client, ("GET", SESSION), pair, &[]).data(200);
    assert_eq!(own["session"]["id"], caller["session"]["id"]);
    assert_eq!(own["key"]["id"], key["id"]);
    with_cookie(&client, ("GET", "/api/v1/dashboards"), pair, &[]).data(200);
    let own_page = [(SITE, "same-origin")];
    let write = with_cookie(&client, ("POST", "/api/v1/dashboards"), pair, &own_page);
    let message = write.refused(403, "forbidden")["message"].to_string();
    assert!(message.contains("lacks the scope \\\"write\\\""), "{message}");

    let by_key = client.get(SESSION).data(200);
    assert_eq!((&by_key["session"], &by_key["scopes"]), (&Value::Null, &json!(["admin"])));
    let ended = with_cookie(&client, ("DELETE", SESSION), pair, &own_page);
    assert_eq!(ended.data(200)["deleted"], true);
    let name = pair.split('=').next().unwrap_or_default();
    assert!(ended.must_header("set-cookie").starts_with(&format!("{name}=; Max-Age=0;")));
    assert_eq!(status(&client, pair), 401);
}

#[test]
fn what_opens_no_session_is_refused() {
    covers!("POST /api/v1/session", Refusal);
    covers!("GET /api/v1/session", Refusal);
    covers!("DELETE /api/v1/session", Refusal);
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let (client, stranger) = (server.client(), server.client().without_key());
    let post = |body: Value| stranger.post(SESSION, &body);
    post(json!({})).refused_for(422, "missing_field", "key");
    post(json!({"key": "a", "code": "b"})).refused_for(422, "invalid_field", "code");
    post(json!({"key": 1})).refused_for(400, "invalid_parameter", "key");
    post(json!({"token": "a"})).refused_for(400, "invalid_parameter", "token");
    let altered = format!("{}x", ADMIN_KEY.split_at(ADMIN_KEY.len() - 1).0);
    for key in ["", "tt_", "tt_nobody12_", &altered, &"é".repeat(60), &"x".repeat(500_000)] {
        let refused = post(json!({"key": key}));
        refused.refused(401, "unauthorized");
        assert_eq!(refused.header("set-cookie"), None);
    }
    for code in ["", "x", &"A".repeat(43), &"A".repeat(500_000)] {
        post(json!({"code": code})).refused(401, "unauthorized");
    }
    post(json!({"key": "x".repeat(2 << 20)})).refused(413, "payload_too_large");
    let lesser = make(&client, json!(["ingest", "work", "write"]), json!({}));
    post(json!({"key": lesser["key"]})).refused(403, "forbidden");
    stranger.get(SESSION).refused(401, "unauthorized");
    client.delete(SESSION).refused(409, "invalid_state");
}

#[test]
fn forged_and_ambiguous_cookies_are_no_session() {
    let server = Server::start();
    let client = server.client();
    let own = sign_in(&client, ADMIN_KEY);
    let (name, token) = own.split_once('=').unwrap_or_default();
    assert_eq!(status(&client, &format!("a=b; {own}; c=d")), 200);
    let other = if token.starts_with('A') { 'B' } else { 'A' };
    let altered = format!("{name}={other}{}", token.get(1..).unwrap_or_default());
    for forged in [
        &format!("{name}="),
        &format!("{name}=x"),
        &format!("telltale_session={token}"),
        &altered,
        &format!("{own}A"),
        &format!("{own}; {name}=x"),
        &format!("{name}=x; {own}"),
        &format!("__Host-{own}"),
        &format!("{}={token}", name.to_uppercase()),
        &format!("{name}={ADMIN_KEY}"),
        &format!("{name}={}", "x".repeat(10_000)),
    ] {
        assert_eq!(status(&client, forged), 401, "{forged}");
    }
    let both = client.request("GET", SESSION).header("cookie", &own).send().data(200);
    assert_eq!(both["session"], Value::Null, "a key comes first");
    let wrong = client.with_key("tt_nobody12_x");
    let wrong = wrong.request("GET", SESSION).header("cookie", &own).send();
    wrong.refused(401, "unauthorized");
}

#[test]
fn a_cookie_counts_only_on_requests_of_own_pages() {
    let server = Server::start();
    let client = server.client();
    let own = sign_in(&client, ADMIN_KEY);
    let get =
        |headers: &[(&str, &str)]| with_cookie(&client, ("GET", SESSION), &own, headers).status;
    assert_eq!(get(&[]), 200);
    for (site, expected) in
        [("same-origin", 200), ("none", 200), ("same-site", 401), ("cross-site", 401), ("", 401)]
    {
        assert_eq!(get(&[(SITE, site)]), expected, "{site}");
    }
    let host = server.address().to_string();
    let (origin, other) = (format!("http://{host}"), format!("http://{host}1"));
    let post = |headers: &[(&str, &str)]| {
        with_cookie(&client, ("POST", "/api/v1/dashboards"), &own, headers).status
    };
    for (headers, expected) in [
        (vec![], 403),
        (vec![(SITE, "same-origin")], 201),
        (vec![(SITE, "none")], 403),
        (vec![(SITE, "same-site")], 403),
        (vec![(SITE, "cross-site")], 403),
        (vec![("origin", &*origin)], 201),
        (vec![("origin", &*other)], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", "https://evil.example")], 403),
        (vec![("origin", &*origin), (SITE, "cross-site")], 403),
        (vec![("referer", &*origin)], 403),
    ] {
        assert_eq!(post(&headers), expected, "{headers:?}");
    }
    let deleted = with_cookie(&client, ("DELETE", SESSION), &own, &[("origin", &other)]);
    deleted.refused(403, "forbidden");
    assert_eq!(client.get("/api/v1/dashboards").data(200).as_array().map(Vec::len), Some(3));
}

#[test]
fn a_page_of_another_site_cannot_sign_a_visitor_in() {
    let server = Server::start();
    let (client, host) = (server.client().without_key(), server.address().to_string());
    let body = json!({"key": ADMIN_KEY}).to_string();
    let post = |headers: &[(&str, &str)]| {
        let mut request = client.request("POST", SESSION).body(body.as_str());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send()
    };
    for headers in [
        vec![(SITE, "cross-site")],
        vec![(SITE, "same-site")],
        vec![(SITE, "none")],
        vec![("origin", "https://evil.example")],
        vec![("origin", "null")],
    ] {
        let refused = post(&headers);
        refused.refused(403, "forbidden");
        assert_eq!(refused.header("set-cookie"), None, "{headers:?}");
    }
    post(&[("content-type", "text/plain")]).refused(415, "unsupported_media_type");
    assert_eq!(post(&[("origin", &format!("http://{host}"))]).status, 201);
    assert_eq!(post(&[(SITE, "same-origin")]).status, 201);
    assert_eq!(post(&[]).status, 201, "a program");
}

#[test]
fn routes_of_other_origins_never_read_cookies() {
    let server = Server::start();
    let client = server.client();
    let own = sign_in(&client, ADMIN_KEY);
    let headers = [(SITE, "same-origin"), ("content-type", "application/json")];
    let sent = with_cookie(&client, ("POST", "/api/1/store/"), &own, &headers);
    assert_eq!(sent.header("access-control-allow-origin"), Some("*"), "{}", sent.summary());
    assert_eq!(sent.status, 401);
}

#[test]
fn signing_in_again_makes_a_new_token_and_ends_the_old_session() {
    let server = Server::start();
    let client = server.client();
    let first = sign_in(&client, ADMIN_KEY);
    let again = client.without_key();
    let again = again.request("POST", SESSION).header("cookie", &first).header(SITE, "same-origin");
    let again = again.json(&json!({"key": ADMIN_KEY})).send();
    again.expect_status(201);
    let second = cookie(&again);
    assert_ne!(first, second);
    assert_eq!([&first, &second].map(|cookie| status(&client, cookie)), [401, 200]);
    // A cookie of somebody else's choice is never adopted.
    let chosen = format!("{}={}", first.split('=').next().unwrap_or_default(), "A".repeat(43));
    let fixed = client.without_key();
    let fixed =
        fixed.request("POST", SESSION).header("cookie", &chosen).header(SITE, "same-origin");
    let fixed = fixed.json(&json!({"key": ADMIN_KEY})).send();
    assert_ne!(cookie(&fixed), chosen);
    assert_eq!(status(&client, &chosen), 401);
}

#[test]
fn an_eleventh_attempt_within_a_minute_is_refused_even_with_a_valid_key() {
    let server = Server::start();
    let client = server.client().without_key();
    let key = format!("tt_nobody12_{}", "x".repeat(43));
    for _ in 0..10 {
        client.post(SESSION, &json!({"key": key})).refused(401, "unauthorized");
    }
    for body in [json!({"key": key}), json!({"key": ADMIN_KEY}), json!({})] {
        let refused = client.post(SESSION, &body);
        refused.refused(429, "rate_limited");
        let seconds: u64 = refused.must_header("retry-after").parse().unwrap_or_default();
        assert!((1..=6).contains(&seconds), "{seconds}");
    }
}

#[test]
fn revoking_a_key_ends_its_sessions_and_a_crash_ends_none() {
    let mut server = Server::start();
    let client = server.client();
    let key = make(&client, json!(["read"]), json!({}));
    let (revoked, kept) = (sign_in(&client, text(&key["key"])), sign_in(&client, ADMIN_KEY));
    let client = {
        server.kill9();
        server.restart();
        server.client()
    };
    assert_eq!([&revoked, &kept].map(|cookie| status(&client, cookie)), [200, 200]);
    client.delete(&format!("/api/v1/keys/{}", text(&key["id"]))).data(200);
    assert_eq!([&revoked, &kept].map(|cookie| status(&client, cookie)), [401, 200]);
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!([&revoked, &kept].map(|cookie| status(&client, cookie)), [401, 200]);
}

#[test]
fn a_code_opens_one_session_also_after_a_crash() {
    covers!("POST /api/v1/session/codes", Happy);
    covers!("POST /api/v1/session/codes", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let codes = "/api/v1/session/codes";
    let key = make(&client, json!(["read"]), json!({}));
    let reader = client.with_key(text(&key["key"]));
    let own = reader.post(codes, &json!({})).data(201);
    assert_eq!(own["path"], format!("/console#code={}", text(&own["code"])));
    let named = client.post(codes, &json!({"key_id": key["id"]})).data(201);
    reader.post(codes, &json!({"key_id": "testadmin"})).refused(403, "forbidden");
    client.post(codes, &json!({"key_id": "nobody12"})).refused_for(422, "invalid_field", "key_id");
    server.kill9();
    server.restart();
    let client = server.client();
    for code in [own, named] {
        let body = json!({"code": code["code"]});
        let opened = client.without_key().post(SESSION, &body);
        assert_eq!(opened.data(201)["key"]["id"], key["id"]);
        client.without_key().post(SESSION, &body).refused(401, "unauthorized");
        let cookie = cookie(&opened);
        let again = with_cookie(&client, ("POST", codes), &cookie, &[(SITE, "same-origin")]);
        again.refused(403, "forbidden");
    }
    let lesser = make(&client, json!(["ingest"]), json!({}));
    client.post(codes, &json!({"key_id": lesser["id"]})).refused(403, "forbidden");
}

#[test]
fn sessions_are_listed_and_ended_by_those_who_may() {
    covers!("GET /api/v1/sessions", Happy);
    covers!("GET /api/v1/sessions", Refusal);
    covers!("DELETE /api/v1/sessions/{id}", Happy);
    covers!("DELETE /api/v1/sessions/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let key = make(&client, json!(["read"]), json!({}));
    let (reader, admin) = (sign_in(&client, text(&key["key"])), sign_in(&client, ADMIN_KEY));
    let list =
        |cookie: &str| with_cookie(&client, ("GET", "/api/v1/sessions"), cookie, &[]).data(200);
    let own = list(&reader);
    assert_eq!(own.as_array().map(Vec::len), Some(1), "{own}");
    assert_eq!((&own[0]["current"], &own[0]["address"]), (&json!(true), &json!("127.0.0.1")));
    let all = list(&admin);
    assert_eq!(all.as_array().map(Vec::len), Some(2), "{all}");
    let id_of = |cookie: &str| {
        let caller = with_cookie(&client, ("GET", SESSION), cookie, &[]).data(200);
        format!("/api/v1/sessions/{}", text(&caller["session"]["id"]))
    };
    let end = |path: &str, cookie: &str| {
        with_cookie(&client, ("DELETE", path), cookie, &[(SITE, "same-origin")])
    };
    end(&id_of(&admin), &reader).refused(404, "console_session_not_found");
    client.without_key().get("/api/v1/sessions").refused(401, "unauthorized");
    end(&id_of(&reader), &admin).data(200);
    assert_eq!([&reader, &admin].map(|cookie| status(&client, cookie)), [401, 200]);
}

#[test]
fn what_a_session_or_a_key_has_begun_ends_with_it() {
    let server = Server::start();
    let client = server.client();
    let body = json!({"name": "back", "user": "a@b.example", "scopes": ["admin"]}).to_string();
    let begin = |credential: &str| {
        let mut wire = server.wire();
        wire.send(format!(
            "POST /api/v1/keys HTTP/1.1\r\nHost: a\r\n{credential}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            body.len()
        ));
        let waits = wire.response().map(|response| response.status);
        assert_eq!(waits, Some(100), "the caller is known, and the server waits for the body");
        wire
    };
    let session = sign_in(&client, ADMIN_KEY);
    let key = make(&client, json!(["admin"]), json!({}));
    let mut by_session = begin(&format!("Cookie: {session}"));
    let mut by_key = begin(&format!("Authorization: Bearer {}", text(&key["key"])));
    let ended = with_cookie(&client, ("DELETE", SESSION), &session, &[(SITE, "same-origin")]);
    ended.data(200);
    client.delete(&format!("/api/v1/keys/{}", text(&key["id"]))).data(200);
    for wire in [&mut by_session, &mut by_key] {
        let response = wire.send(&body).response();
        assert_eq!(response.map(|response| response.status), Some(401));
    }
    let names = client.get("/api/v1/keys").data(200).to_string();
    assert!(!names.contains("\"back\""), "{names}");
}

#[test]
fn answers_to_a_session_are_kept_by_no_cache() {
    let server = Server::start();
    let client = server.client();
    let session = sign_in(&client, ADMIN_KEY);
    for path in [SESSION, "/api/v1/keys", "/api/v1/dashboards", "/api/v1/dashboards/nothing"] {
        let answer = with_cookie(&client, ("GET", path), &session, &[]);
        let policy = answer.must_header("cache-control");
        assert!(policy.contains("no-store"), "{path}: {policy}");
    }
    assert_eq!(client.get("/api/v1/dashboards").header("cache-control"), None, "asked with a key");
    let ended = with_cookie(&client, ("DELETE", SESSION), &session, &[(SITE, "same-origin")]);
    assert_eq!(ended.must_header("clear-site-data"), "\"cache\"");
}

#[test]
fn quotas_that_a_key_has_of_its_own_count_for_its_sessions() {
    let server = Server::start();
    let client = server.client();
    let key = make(&client, json!(["read", "ingest"]), json!({"query": 1, "single": 1}));
    let session = sign_in(&client, text(&key["key"]));
    let query = || {
        let path = "/api/v1/events/count?from=now-1h&to=now&interval=1m";
        with_cookie(&client, ("GET", path), &session, &[]).status
    };
    assert_eq!([query(), query()], [200, 429]);
    let write = || {
        let client = client.without_key();
        let request = client.request("POST", "/api/v1/metrics").header("cookie", &session);
        let point = json!({"type": "counter", "name": "orders", "value": 1});
        request.header(SITE, "same-origin").json(&point).send().status
    };
    assert_eq!([write(), write()], [201, 429]);
    // Signing out is always possible.
    let narrow = Setup::new().set("limits.console", "1").start();
    let client = narrow.client();
    let session = sign_in(&client, ADMIN_KEY);
    assert_eq!(status(&client, &session), 200);
    assert_eq!(status(&client, &session), 429);
    with_cookie(&client, ("DELETE", SESSION), &session, &[(SITE, "same-origin")]).data(200);
}

#[test]
fn sessions_have_a_quota_of_their_own() {
    let server = Setup::new().set("limits.console", "7").set("limits.other", "1").start();
    let client = server.client();
    let cookies = [sign_in(&client, ADMIN_KEY), sign_in(&client, ADMIN_KEY)];
    for n in 0..7 {
        let response = with_cookie(&client, ("GET", SESSION), &cookies[n % 2], &[]);
        assert_eq!((response.status, response.must_header("ratelimit-limit")), (200, "7"));
    }
    let refused = with_cookie(&client, ("GET", "/api/v1/metrics"), &cookies[0], &[]);
    let message = refused.refused(429, "rate_limited")["message"].to_string();
    assert!(message.contains("class \\\"console\\\""), "{message}");
    client.get(SESSION).data(200);
}

#[test]
fn the_cookie_is_secure_if_users_come_by_https() {
    let server = Setup::new().set("server.public_url", "\"https://telltale.example.com\"").start();
    let client = server.client();
    let opened = client.without_key().post(SESSION, &json!({"key": ADMIN_KEY}));
    let set = opened.must_header("set-cookie").to_owned();
    assert!(set.starts_with("__Host-telltale_session_") && set.ends_with("; Secure"), "{set}");
    let own = cookie(&opened);
    let post = |origin: &str| {
        with_cookie(&client, ("POST", "/api/v1/dashboards"), &own, &[("origin", origin)]).status
    };
    assert_eq!(post("https://telltale.example.com"), 201, "a proxy may change the host");
    assert_eq!(post("https://telltale.example.com.evil.example"), 403);
}

#[test]
fn the_first_start_prints_a_link_that_signs_in_once() {
    let server = Setup::new().without_env("TELLTALE_ADMIN_KEY").start();
    let base = format!("http://{}/console#code=", server.address());
    let code: String = eventually("the link in the log", || {
        let log = server.log().join("\n");
        let (_, code) = log.split_once(&base)?;
        Some(code.chars().take(43).collect())
    });
    let client = server.client().without_key();
    let caller = client.post(SESSION, &json!({"code": code})).data(201);
    assert_eq!(caller["scopes"], json!(["admin"]));
    client.post(SESSION, &json!({"code": code})).refused(401, "unauthorized");
}

#[test]
fn a_page_learns_whether_the_browser_has_a_session() {
    covers!("GET /api/v1/session/state", Happy);
    covers!("GET /api/v1/session/state", Refusal);
    let server = Server::start();
    let client = server.client();
    let own = sign_in(&client, ADMIN_KEY);
    let path = "/api/v1/session/state";
    let state = |cookie: &str, site: &str| {
        let told = with_cookie(&client, ("GET", path), cookie, &[(SITE, site)]);
        assert_eq!(told.must_header("cache-control"), "no-store");
        told.data(200)["signed_in"].clone()
    };
    assert_eq!(state(&own, "same-origin"), true);
    assert_eq!(state("a=b", "same-origin"), false);
    assert_eq!(state(&format!("{own}A"), "same-origin"), false);
    assert_eq!(state(&own, "cross-site"), false, "another site learns nothing");
    client.get(&format!("{path}?x=1")).refused(400, "invalid_parameter");
    with_cookie(&client, ("DELETE", SESSION), &own, &[(SITE, "same-origin")]).data(200);
    assert_eq!(state(&own, "same-origin"), false);
}

#[test]
fn servers_on_one_host_have_cookies_of_their_own() {
    let servers = [(); 2].map(|()| Server::start());
    let own = servers.each_ref().map(|server| sign_in(&server.client(), ADMIN_KEY));
    // Browsers send both to both, in any order.
    for cookies in [format!("{}; {}", own[0], own[1]), format!("{}; {}", own[1], own[0])] {
        for server in &servers {
            assert_eq!(status(&server.client(), &cookies), 200, "{cookies}");
        }
    }
    assert_eq!(status(&servers[0].client(), &own[1]), 401);
}

#[test]
fn the_command_line_prints_a_link_that_signs_in_once() {
    let server = Server::start();
    let printed = server.cli(["login"]);
    let link = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let (base, code) = link.split_once("/console#code=").unwrap_or_default();
    // The server was started with port 0.
    assert_eq!(base, format!("http://{}", server.address()));
    let client = server.client().without_key();
    let caller = client.post(SESSION, &json!({"code": code})).data(201);
    assert_eq!(caller["key"]["id"], "testadmin", "{link}");
    client.post(SESSION, &json!({"code": code})).refused(401, "unauthorized");
    assert!(!server.log().iter().any(|line| line.contains(code)), "the log contains a code");
    let unknown = server.cli(["login", "--key-id", "nobody12"]);
    assert_eq!(unknown.status.code(), Some(1));
}
