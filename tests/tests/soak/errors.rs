//! Error events as a Sentry SDK reports them, with the DSN of a public key: a set of known groups,
//! and from time to time a new one.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::Client;

use crate::pace::Run;
use crate::random::Random;
use crate::sender::Sender;

/// Time between two envelopes.
const PERIOD: Duration = Duration::from_millis(250);
/// Groups at the start, and envelopes between two new ones: three new groups a minute.
const GROUPS: u64 = 20;
const NEW_GROUP_EVERY: u64 = 80;
/// Users affected by the errors.
const USERS: u64 = 100;
/// Prefix of the types of the exceptions.
const TYPE_PREFIX: &str = "SoakError";
/// Groups of a page of the list.
const PAGE_GROUPS: usize = 1_000;

/// What was sent: occurrences by the type of the exception.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    occurrences: BTreeMap<String, u64>,
}

/// Creates a public key, and returns its id.
#[track_caller]
pub(crate) fn public_key(client: &Client) -> String {
    let key = json!({
        "name": "soak", "user": "soak@example.com", "scopes": ["ingest"], "limits": {},
        "public_ingest": true
    });
    let created = client.post("/api/v1/keys", &key).data(201);
    created["id"].as_str().unwrap_or_default().to_owned()
}

/// Sends with a public key until the run is over.
pub(crate) fn send(run: &Run, client: Client, key: &str) -> Errors {
    let auth = format!("Sentry sentry_key={key}, sentry_version=7, sentry_client=soak/1");
    let mut sender = Sender::new(run, client.without_key(), "errors");
    let (mut random, mut sent) = (Random::new(3), Errors::default());
    let mut schedule = run.schedule("errors", PERIOD);
    let mut envelopes = 0;
    while schedule.wait() {
        let group = random.below(GROUPS + envelopes / NEW_GROUP_EVERY);
        let kind = type_of(group);
        let id = format!("{:016x}{:016x}", random.bits(), envelopes);
        let body = envelope(&id, &kind, &mut random);
        let response = sender.send(|client, key| {
            let request = client.request("POST", "/api/1/envelope/").header("x-sentry-auth", &auth);
            let request = request.header("content-type", "application/x-sentry-envelope");
            request.header("idempotency-key", key).body(body.clone()).send()
        });
        assert_eq!(response.expect(200), json!({ "id": id }));
        *sent.occurrences.entry(kind).or_default() += 1;
        run.add_stored(1);
        envelopes += 1;
    }
    sent
}

/// Returns the type of the exceptions of a group. It has letters only: grouping may disregard
/// digits in names.
fn type_of(group: u64) -> String {
    let letter = |digit: u8| char::from(digit - b'0' + b'A');
    TYPE_PREFIX.chars().chain(group.to_string().bytes().map(letter)).collect()
}

fn envelope(id: &str, kind: &str, random: &mut Random) -> String {
    let user = random.below(USERS);
    let event = json!({
        "event_id": id, "level": "error", "platform": "python", "release": "shop@1.4.2",
        "user": {"id": format!("user-{user}")},
        "exception": {"values": [{
            "type": kind, "value": format!("order {} of user {user} failed", random.below(100_000)),
            "stacktrace": {"frames": [
                {"filename": "shop/main.py", "function": "main", "lineno": 12, "in_app": true},
                {"filename": "shop/orders.py", "function": kind, "lineno": 80, "in_app": true},
            ]},
        }]},
    });
    let event = event.to_string();
    let length = event.len();
    format!("{{\"event_id\":\"{id}\"}}\n{{\"type\":\"event\",\"length\":{length}}}\n{event}\n")
}

impl Errors {
    /// Fails unless the server has these groups with these occurrences, and no others.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client) {
        let groups = groups(client);
        let count =
            |group: &Value| (type_of_title(group), group["occurrences"].as_u64().unwrap_or(0));
        let counted: BTreeMap<String, u64> = groups.iter().map(count).collect();
        assert_eq!(counted.len(), groups.len(), "each type is one group");
        assert_eq!(counted, self.occurrences);
        for group in &groups {
            let id = group["id"].as_str().unwrap_or_default();
            let events = client.get(&format!("/api/v1/errors/{id}/events?limit=1")).expect(200);
            assert_eq!(events["meta"]["total"], group["occurrences"], "events of {group}");
        }
        let all = client.get("/api/v1/events?name=telltale.error&limit=1").expect(200);
        assert_eq!(all["meta"]["total"], self.occurrences.values().sum::<u64>());
    }
}

/// Returns all groups that the server lists.
#[track_caller]
fn groups(client: &Client) -> Vec<Value> {
    let mut groups = Vec::new();
    loop {
        let path = format!("/api/v1/errors?limit={PAGE_GROUPS}&offset={}", groups.len());
        let page = client.get(&path).data(200);
        let Some(page) = page.as_array().filter(|page| !page.is_empty()) else { return groups };
        groups.extend_from_slice(page);
    }
}

/// Returns the type of a group's exception, which its title starts with.
fn type_of_title(group: &Value) -> String {
    let title = group["title"].as_str().unwrap_or_default();
    title.split(':').next().unwrap_or_default().to_owned()
}
