//! The message of every refusal. The table in `tables/messages.txt` is meant to be read: a message
//! that is not plain English, does not name the field or mentions internals is a fault.

use std::fmt::Write;

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server};

use crate::dashboards::{add, make as make_dashboard, widget};
use crate::jobs::{enqueue, fetch_one, register};
use crate::keys::{make as make_key, text};

const TABLE: &str = include_str!("tables/messages.txt");
/// The location of the first error in a response: a refusal, or an item of a batch.
const PLACES: [&str; 5] =
    ["/error", "/errors/0", "/data/errors/0", "/data/events/errors/0", "/data/metrics/errors/0"];
/// Words that only occur inside the server.
const INTERNALS: [&str; 14] = [
    ", expected",
    "invalid type",
    "invalid digit",
    "EOF",
    "struct ",
    "u32",
    "i64",
    "f64",
    "usize",
    "Option",
    "column 1 column",
    "stands",
    "is wrong",
    "  ",
];

/// A request of the table and its expected refusal.
struct Row<'t> {
    headers: Vec<(&'t str, &'t str)>,
    method: &'t str,
    path: &'t str,
    body: Option<&'t str>,
    /// Status, code and message.
    outcome: &'t str,
}

fn rows() -> Vec<Row<'static>> {
    let (mut rows, mut headers, mut request) = (Vec::new(), Vec::new(), None);
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix("+ ") {
            headers.extend(header.split_once(": "));
        } else if let Some(outcome) = line.strip_prefix("    ") {
            let Some(line) = request.take() else { panic!("no request before {outcome:?}") };
            let mut parts = str::splitn(line, 3, ' ');
            let (Some(method), Some(path)) = (parts.next(), parts.next()) else {
                panic!("no request in {line:?}");
            };
            let headers = std::mem::take(&mut headers);
            rows.push(Row { headers, method, path, body: parts.next(), outcome });
        } else {
            assert!(request.is_none(), "nothing is reported of {request:?}");
            request = Some(line);
        }
    }
    assert!(request.is_none(), "nothing is reported of {request:?}");
    rows
}

/// Placeholders of the table.
struct Made {
    names: Vec<(&'static str, String)>,
    client: Client,
    reader: Client,
    limited: Client,
}

impl Made {
    fn on(server: &Server) -> Self {
        let client = server.client();
        let point = json!({"name": "load", "type": "gauge", "value": 1});
        client.post("/api/v1/metrics", &point).data(201);
        let taken = client.request("POST", "/api/v1/events").header("idempotency-key", "taken");
        taken.json(&json!({"name": "a"})).send().data(201);
        let error = client.post("/api/v1/errors", &json!({"message": "boom"})).data(201);
        let dashboard = make_dashboard(&client, "Web");
        let number = widget("number", json!({"metric": "load"}), json!({}));
        let shown = add(&client, &dashboard, &number);
        enqueue(&client, &json!({"class_name": "A", "queue": "mail"}));
        let worker = register(&client, &["mail"]);
        let running = fetch_one(&client, &worker);
        let unique = json!({"class_name": "A", "queue": "mail", "unique_key": "u"});
        let unique = enqueue(&client, &unique);
        let reader = make_key(&client, json!(["read"]), json!({}));
        let limited = make_key(&client, json!(["read"]), json!({"other": 1}));
        let limited = client.with_key(text(&limited["key"]));
        limited.get("/api/v1/metrics").data(200);
        Self {
            names: vec![
                ("error", text(&error["id"]).to_owned()),
                ("dashboard", dashboard),
                ("widget", text(&shown["id"]).to_owned()),
                ("worker", worker),
                ("running", text(&running["job_id"]).to_owned()),
                ("unique", unique),
                ("key", text(&reader["id"]).to_owned()),
            ],
            reader: client.with_key(text(&reader["key"])),
            limited,
            client,
        }
    }

    /// Returns the string with placeholders replaced.
    fn filled(&self, text: &str) -> String {
        let mut parts = text.split('$');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
            let (name, rest) = part.split_at_checked(end).unwrap_or_default();
            filled.push_str(&self.meant(name));
            filled.push_str(rest);
        }
        filled
    }

    fn meant(&self, name: &str) -> String {
        if let Some((_, text)) = self.names.iter().find(|(known, _)| *known == name) {
            return text.clone();
        }
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (kind, count) = name.split_at_checked(digits).unwrap_or_default();
        let Ok(count) = count.parse::<usize>() else { panic!("nothing is called ${name}") };
        match kind {
            "x" => "x".repeat(count),
            "zeros" => vec!["0"; count].join(","),
            "parameters" => vec!["a=1"; count].join("&"),
            "conditions" => vec!["tags[k]=v"; count].join("&"),
            "tags" => {
                let tags: Vec<String> = (0..count).map(|i| format!("\"k{i}\":\"v\"")).collect();
                tags.join(",")
            }
            _ => panic!("nothing is called ${name}"),
        }
    }

    fn send(&self, row: &Row<'_>) -> Response {
        let client = match row.headers.iter().find(|(name, _)| *name == "key") {
            None => self.client.clone(),
            Some((_, "reader")) => self.reader.clone(),
            Some((_, "limited")) => self.limited.clone(),
            Some(_) => self.client.without_key(),
        };
        let path = self.filled(row.path);
        let mut request = client.request(row.method, &path);
        for (name, value) in row.headers.iter().filter(|(name, _)| *name != "key") {
            request = request.header(name, value);
        }
        let Some(body) = row.body else { return request.send() };
        if !row.headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        request.body(self.filled(body)).send()
    }
}

/// Returns status, code and message of a response.
fn outcome(response: &Response) -> String {
    let body = response.json();
    let error = PLACES.iter().find_map(|place| body.pointer(place)).unwrap_or(&Value::Null);
    format!("{} {}: {}", response.status, text(&error["code"]), text(&error["message"]))
}

#[test]
fn every_refusal_has_the_expected_message() {
    let server = Server::start();
    let made = Made::on(&server);
    let rows = rows();
    assert!(rows.len() >= 250, "the table has {} rows", rows.len());
    let mut wrong = String::new();
    for row in &rows {
        let (actual, expected) = (outcome(&made.send(row)), made.filled(row.outcome));
        if actual != expected {
            let Row { method, path, body, .. } = row;
            let body = body.unwrap_or_default();
            // Writing into a String cannot fail.
            writeln!(wrong, "{method} {path} {body}\n  answered {actual}\n  expected {expected}")
                .unwrap_or_default();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn no_message_mentions_internals() {
    for row in rows() {
        let Some((_, message)) = row.outcome.split_once(": ") else { panic!("{}", row.outcome) };
        assert!(!message.ends_with('.'), "{message}");
        for inner in INTERNALS {
            assert!(!message.contains(inner), "{inner:?} in {message}");
        }
        let words: Vec<&str> = message.split([' ', ',', ';']).collect();
        for pair in words.windows(3) {
            // `at most 1 request`, not `1 requests`; `1 of 1 lines` is a share.
            let is_plural =
                matches!(pair, [before, "1", noun] if *before != "of" && noun.ends_with('s'));
            assert!(!is_plural, "{message}");
        }
    }
}

#[test]
fn dead_jobs_are_selected_by_age_in_every_form_of_time() {
    let server = Server::start();
    let client = server.client();
    for time in
        ["2020-01-02T03:04:05Z", "2020-01-02", "1577934245", "1577934245678", "now", "now-1h"]
    {
        let body = json!({"filter": {"older_than": time}, "confirm": true});
        let response = client.request("DELETE", "/api/v1/dead-jobs").json(&body).send().expect(200);
        assert_eq!(response["message"], "0 dead jobs were deleted", "{time}: {response}");
    }
}
