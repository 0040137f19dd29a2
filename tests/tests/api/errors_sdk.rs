//! The Sentry SDKs for Python and Node, as their users run them, with only the DSN changed.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, eventually, node, python};

use crate::errors_sentry::{all, dsn, public_key};

const SCRIPT: &str = include_str!("errors_sdk.py");
const SDK: &str = "sentry-sdk==2.75.0";
const BROTLI: &str = "brotli==1.2.1";
const NODE_SDK: &str = "@sentry/node@10.78.0";

/// Runs a step with the SDK, which compresses bodies as its packages allow, and returns the content
/// encodings.
#[track_caller]
fn run(packages: &[&str], dsn: &str, step: &str, padding: &str) -> String {
    python(packages, SCRIPT, [dsn, step, padding]).trim().to_owned()
}

/// Starts a server and returns the DSN of a public key.
#[track_caller]
fn house(setup: Setup) -> (Server, Client, String) {
    let server = setup.start();
    let client = server.client();
    let key = public_key(&client, &json!({"single": "unlimited"}));
    let dsn = dsn(&server, &key);
    (server, client, dsn)
}

fn titles(errors: &Value) -> Vec<(&str, u64)> {
    let reported = |error: &'_ Value| error["occurrences"].as_u64().unwrap_or_default();
    let errors = errors.as_array().into_iter().flatten();
    let mut titles: Vec<(&str, u64)> =
        errors.map(|e| (e["title"].as_str().unwrap_or_default(), reported(e))).collect();
    titles.sort_unstable();
    titles
}

#[test]
fn exceptions_with_causes_arrive_and_are_grouped() {
    let (_server, client, dsn) = house(Setup::new());
    assert_eq!(run(&[SDK], &dsn, "exceptions", "0"), "gzip");
    let errors = all(&client);
    assert_eq!(
        titles(&errors),
        [("RuntimeError: cannot read c3", 3), ("RuntimeError: cannot read d4", 1)]
    );
    let parse = errors.as_array().into_iter().flatten().find(|e| e["occurrences"] == 3);
    let id = parse.and_then(|error| error["id"].as_str()).unwrap_or_default();
    let detail = client.get(&format!("/api/v1/errors/{id}")).data(200);
    assert_eq!((&detail["level"], &detail["users_affected"]), (&json!("error"), &json!(1)));
    assert_eq!(detail["exception"]["type"], "RuntimeError");
    assert_eq!(detail["exception"]["message"], "cannot read c3");
    let newest = detail["exception"]["backtrace"][0].as_str().unwrap_or_default();
    assert!(newest.ends_with(" in parse"), "{detail}");
    let latest = &detail["latest_event"];
    assert_eq!((&latest["user"]["id"], &latest["tags"]["region"]), (&json!("17"), &json!("eu")));
    assert_eq!(
        (&latest["environment"], &latest["release"]),
        (&json!("staging"), &json!("shop@1.2.3"))
    );
    let events = client.get(&format!("/api/v1/errors/{id}/events?limit=1"));
    let event = &events.data(200)[0];
    let details = &event["details"];
    assert_eq!(details["exceptions"][0]["type"], "ValueError", "the cause is there");
    assert_eq!(details["breadcrumbs"][0]["message"], "added");
    assert_eq!(details["contexts"]["cart"], json!({"items": 3, "api_token": "[Filtered]"}));
    let vars = &details["exceptions"][1]["frames"][1]["vars"];
    assert!(!details.to_string().contains("hunter2"), "{vars}");
}

#[test]
fn brotli_bodies_of_the_sdk_are_accepted() {
    let (_server, client, dsn) = house(Setup::new());
    assert_eq!(run(&[SDK, BROTLI], &dsn, "once", "0"), "br");
    assert_eq!(titles(&all(&client)), [("RuntimeError: cannot read a1", 1)]);
}

#[test]
fn changed_line_numbers_do_not_split_a_group() {
    let (_server, client, dsn) = house(Setup::new());
    for padding in ["0", "7", "40"] {
        run(&[SDK], &dsn, "once", padding);
    }
    assert_eq!(titles(&all(&client)), [("RuntimeError: cannot read a1", 3)]);
}

#[test]
fn messages_are_grouped_by_pattern_and_card_numbers_are_not_stored() {
    let (_server, client, dsn) = house(Setup::new());
    run(&[SDK], &dsn, "messages", "0");
    let errors = all(&client);
    assert_eq!(
        titles(&errors),
        [("order 4711 is late", 2), ("the card [Filtered] was refused", 1)]
    );
    let fatal = client.get("/api/v1/errors?level=fatal").data(200);
    assert_eq!(fatal.as_array().map(Vec::len), Some(1));
}

#[test]
fn affected_users_are_counted_once_and_kept() {
    let (mut server, client, dsn) = house(Setup::new());
    run(&[SDK], &dsn, "users", "0");
    let reported = all(&client);
    assert_eq!(
        (&reported[0]["occurrences"], &reported[0]["users_affected"]),
        (&json!(50), &json!(25))
    );
    server.kill9();
    server.restart();
    assert_eq!(all(&server.client()), reported);
}

#[test]
fn fingerprints_split_and_join() {
    let (_server, client, dsn) = house(Setup::new());
    run(&[SDK], &dsn, "fingerprints", "0");
    let counts: Vec<u64> = titles(&all(&client)).into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [1, 2, 2]);
}

#[test]
fn a_resolved_error_that_recurs_is_a_regression() {
    let (_server, client, dsn) = house(Setup::new());
    run(&[SDK], &dsn, "once", "0");
    let path = format!("/api/v1/errors/{}", all(&client)[0]["id"].as_str().unwrap_or_default());
    client.post(&format!("{path}/resolve"), &json!({})).data(200);
    run(&[SDK], &dsn, "once", "3");
    let detail = client.get(&path).data(200);
    assert_eq!((&detail["status"], &detail["occurrences"]), (&json!("unresolved"), &json!(2)));
    assert!(detail["regressed_at"].is_string(), "{detail}");
}

#[test]
fn the_sdk_respects_rate_limits() {
    let server = Setup::new().set("log.level", "\"debug\"").start();
    let client = server.client();
    let key = public_key(&client, &json!({"single": 3}));
    run(&[SDK], &dsn(&server, &key), "flood", "0");
    let asked = |status: &str| {
        let lines = server.log();
        let reported = |line: &&String| line.contains("/api/1/envelope/") && line.contains(status);
        lines.iter().filter(reported).count()
    };
    // The log is read on another thread.
    eventually("the refusal to be logged", || (asked("\"status\":429") > 0).then_some(()));
    assert_eq!((asked("\"status\":200"), asked("\"status\":429")), (3, 1));
    assert_eq!(titles(&all(&client)), [("flood", 3)]);
}

#[test]
fn a_revoked_key_accepts_nothing() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    client.delete(&format!("/api/v1/keys/{key}")).data(200);
    run(&[SDK], &dsn(&server, &key), "once", "0");
    assert_eq!(all(&client), json!([]));
}

#[test]
fn the_sdk_for_node_reports_errors() {
    const SCRIPT: &str = r#"
        const Sentry = require("@sentry/node");
        Sentry.init({ dsn: process.argv[1], release: "web@2", tracesSampleRate: 0 });
        Sentry.setUser({ id: "ann" });
        function checkout(total) { throw new TypeError(`no total ${total}`); }
        for (const total of [1, 2]) {
            try { checkout(total); } catch (error) { Sentry.captureException(error); }
        }
        Sentry.captureMessage("halves of characters: \ud83d", "info");
        Sentry.flush(10000).then((sent) => { console.log(sent); process.exit(sent ? 0 : 1); });
    "#;
    let (_server, client, dsn) = house(Setup::new());
    assert_eq!(node(&[NODE_SDK], SCRIPT, [dsn.as_str()]).trim(), "true");
    let errors = all(&client);
    let titles = titles(&errors);
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert_eq!(titles[0], ("TypeError: no total 2", 2));
    assert!(titles[1].0.starts_with("halves of characters: "), "{titles:?}");
}
