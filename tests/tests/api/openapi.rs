//! The OpenAPI document is accurate: its examples succeed, its links lead to created resources, its
//! schemas have names.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server};

/// An operation of the document.
struct Operation<'d> {
    method: String,
    path: &'d str,
    described: &'d Value,
}

impl Operation<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The media type of the body and an example.
    fn example(&self) -> Option<(&str, &Value)> {
        let content = self.described["requestBody"]["content"].as_object()?;
        content.iter().find_map(|(media, body)| Some((media.as_str(), body.get("example")?)))
    }
}

#[track_caller]
fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, methods)| {
        methods.as_object().into_iter().flatten().map(move |(method, described)| Operation {
            method: method.to_uppercase(),
            path,
            described,
        })
    });
    operations.collect()
}

fn document(client: &Client) -> Value {
    client.get("/api/v1/openapi.json").json()
}

/// Ids of created resources by path: `/api/v1/dashboards/{id}` is the dashboard.
type Made = BTreeMap<String, String>;

/// Returns the path with the ids of created resources; `None` if one is missing.
fn filled(path: &str, made: &Made) -> Option<String> {
    let (mut so_far, mut filled) = (String::new(), String::new());
    for part in path.split('/').skip(1) {
        so_far.push('/');
        so_far.push_str(part);
        filled.push('/');
        filled.push_str(if part.starts_with('{') { made.get(&so_far)? } else { part });
    }
    Some(filled)
}

#[track_caller]
fn send(client: &Client, operation: &Operation<'_>, path: &str) -> Response {
    let request = client.request(&operation.method, path);
    match operation.example() {
        Some((_, example)) if example.is_object() || example.is_array() => {
            request.json(example).send()
        }
        Some((media, example)) => {
            let text = example.as_str().unwrap_or_default();
            request.header("content-type", media).body(text).send()
        }
        None => request.send(),
    }
}

/// Records the links of a response, and follows them.
#[track_caller]
fn follow(
    client: &Client,
    document: &Value,
    described: &Value,
    response: &Response,
    made: &mut Made,
) {
    let status = response.status.to_string();
    let links = described["responses"][status.as_str()]["links"].as_object();
    for link in links.into_iter().flatten().map(|(_, link)| link) {
        let all = operations(document);
        let to = all.iter().find(|one| one.described["operationId"] == link["operationId"]);
        let Some(to) = to else { panic!("{link} leads nowhere") };
        for (name, place) in link["parameters"].as_object().into_iter().flatten() {
            let Some(pointer) = place.as_str().and_then(|p| p.strip_prefix("$response.body#"))
            else {
                continue;
            };
            let body = response.json();
            let value = body.pointer(pointer).and_then(Value::as_str);
            let Some(value) = value else { panic!("{link}: {body} has no {pointer}") };
            let end = to.path.find(&format!("{{{name}}}")).unwrap_or_default() + name.len() + 2;
            made.insert(to.path.get(..end).unwrap_or_default().to_owned(), value.to_owned());
        }
        let Some(path) = filled(to.path, made) else { panic!("{link}: something is not named") };
        let found = client.get(&path);
        assert_eq!(found.status, 200, "{link}: {}", found.summary());
    }
}

/// Questions about a repository, which has to be synced.
const CODE_HELP: [&str; 4] =
    ["/api/v1/chat", "/api/v1/chat/sessions", "/api/v1/explain", "/api/v1/generate-docs"];

#[test]
fn examples_succeed_and_links_lead_to_created_resources() {
    let server = Server::start();
    let client = server.client();
    let document = document(&client);
    let (mut made, mut followed) = (Made::new(), 0);
    let mut operations = operations(&document);
    // Creation precedes use, and deletion comes last.
    let depth = |one: &Operation<'_>| one.path.matches('{').count();
    operations.sort_by_key(|one| (one.method == "DELETE", depth(one), one.path != "/api/v1/jobs"));
    let mut tried = 0;
    for operation in &operations {
        if operation.example().is_none() || operation.method == "GET" {
            continue;
        }
        let Some(path) = filled(operation.path, &made) else {
            // No job dies or is fetched here, and no response names the page of visitors.
            let is_far = ["{id}", "/status/{subdomain}"].iter().any(|p| operation.path.contains(p));
            assert!(is_far, "{} is out of reach", operation.name());
            continue;
        };
        // The job of the token in the example is not held.
        let needs_holder = ["/ack", "/fail", "/extend"].iter().any(|end| path.ends_with(end));
        let response = send(&client, operation, &path);
        if needs_holder {
            response.refused(409, "reservation_lost");
        } else if operation.path == "/api/v1/escalation_policies" {
            // The channel of the example does not exist.
            response.refused_for(422, "invalid_field", "steps[0].channel_id");
        } else if operation.path == "/api/v1/monitors/{id}/heartbeat" {
            // The monitor of the example is not one that waits for reports.
            response.refused(409, "invalid_state");
        } else if operation.path == "/api/v1/snapshots/{id}/compare" {
            // The page of the example cannot be reached, so it was not captured.
            response.refused(409, "invalid_state");
        } else if CODE_HELP.contains(&operation.path) {
            // The repository of the example does not exist.
            response.refused(404, "repository_not_found");
        } else if operation.path == "/api/v1/session" {
            // The key of the example does not exist.
            response.refused(401, "unauthorized");
        } else if operation.path == "/api/v1/status-pages/{id}/monitors" {
            // The monitor of the example does not exist.
            response.refused_for(422, "invalid_field", "monitor_id");
        } else if operation.path == "/api/v1/status-pages/{id}/maintenance" {
            // Nor does that of this one.
            response.refused_for(422, "invalid_field", "monitors[0]");
        } else {
            let is_success = (200..300).contains(&response.status);
            assert!(is_success, "{}: {}", operation.name(), response.summary());
            let before = made.len();
            follow(&client, &document, operation.described, &response, &mut made);
            followed += made.len() - before;
        }
        tried += 1;
    }
    assert!(tried >= 30, "only {tried} examples were tried");
    assert!(followed >= 7, "links led to {followed} things: {made:?}");
}

#[test]
fn examples_of_parameters_are_accepted() {
    let server = Server::start();
    let client = server.client();
    client.post("/api/v1/metrics", &json!({"name": "cpu.usage", "type": "gauge", "value": 1}));
    let document = document(&client);
    let mut tried = 0;
    for operation in operations(&document) {
        let parameters = operation.described["parameters"].as_array();
        for parameter in parameters.into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default();
            let examples = match (&parameter["example"], &parameter["schema"]["examples"]) {
                (Value::String(example), _) => vec![(name.to_owned(), example.clone())],
                (Value::Object(tags), _) => tags
                    .iter()
                    .map(|(k, v)| {
                        (format!("{name}[{k}]"), v.as_str().unwrap_or_default().to_owned())
                    })
                    .collect(),
                (_, Value::Array(examples)) => {
                    let strings = examples.iter().filter_map(Value::as_str);
                    strings.map(|text| (name.to_owned(), text.to_owned())).collect()
                }
                _ => continue,
            };
            // The resource of the path does not exist, or a body is needed.
            let has_body = !operation.name().starts_with("GET ");
            if parameter["in"] != "query" || operation.path.contains("{id}") || has_body {
                continue;
            }
            for (name, example) in examples {
                let mut path = operation.path.replace("{name}", "cpu.usage");
                path.push_str(&format!("?{name}={}", example.replace(' ', "+")));
                let required = parameters.into_iter().flatten().filter(|p| p["required"] == true);
                for other in required.filter(|p| p["in"] == "query" && p["name"] != *name) {
                    let text = |field: &str| other[field].as_str().unwrap_or_default().to_owned();
                    path.push_str(&format!("&{}={}", text("name"), text("example")));
                }
                let response = client.get(&path);
                assert_eq!(response.status, 200, "{path}: {}", response.summary());
                tried += 1;
            }
        }
    }
    assert!(tried >= 30, "only {tried} examples were tried");
}

#[test]
fn every_schema_has_a_name_that_does_not_depend_on_the_others() {
    let server = Server::start();
    let document = document(&server.client());
    let names: Vec<&String> = document["components"]["schemas"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(n, _)| n)
        .collect();
    assert!(names.len() >= 100, "{names:?}");
    for name in &names {
        // The generator numbers schemas with equal names.
        assert!(name.chars().all(|c| c.is_ascii_alphabetic()), "{name}");
    }
    for expected in ["MetricPage", "MetricDetailData", "DashboardInput", "JobInput", "Error"] {
        assert!(names.iter().any(|name| *name == expected), "there is no {expected}");
    }
}

#[test]
fn fields_that_are_always_present_are_required_in_schemas() {
    let server = Server::start();
    let document = document(&server.client());
    let required = |name: &str| document["components"]["schemas"][name]["required"].clone();
    assert_eq!(required("BatchAnswer"), json!(["accepted", "rejected"]));
    assert_eq!(required("BulkOutcome"), json!(["accepted", "rejected"]));
    assert_eq!(required("KeyInput"), json!(["name", "user", "scopes"]));
    assert_eq!(required("DashboardInput"), json!(["name"]));
    assert_eq!(required("JobInput"), json!(["class_name"]));
    assert_eq!(required("JobExtendInput"), json!(["reservation_token", "seconds"]));
    assert_eq!(required("ErrorAssignInput"), json!(["user_id"]));
    assert_eq!(required("DashboardPatch"), Value::Null);
    let body = |path: &str| document["paths"][path]["post"]["requestBody"]["required"].clone();
    assert_eq!(body("/api/v1/jobs"), json!(true));
    assert_eq!(body("/api/v1/errors/{id}/resolve"), json!(false));
}

#[test]
fn limits_that_clamp_declare_no_maximum() {
    let server = Server::start();
    let client = server.client();
    let document = document(&client);
    let mut clamped = 0;
    for operation in operations(&document) {
        let parameters = operation.described["parameters"].as_array();
        for parameter in parameters.into_iter().flatten() {
            if !["limit", "per_page"].iter().any(|name| parameter["name"] == *name) {
                continue;
            }
            assert_eq!(parameter["schema"]["maximum"], Value::Null, "{}", operation.name());
            if !operation.path.contains('{') {
                let name = parameter["name"].as_str().unwrap_or_default();
                let mut path = format!("{}?{name}=99999999999999999999", operation.path);
                for other in parameters.into_iter().flatten().filter(|p| p["required"] == true) {
                    let text = |field: &str| other[field].as_str().unwrap_or_default().to_owned();
                    path.push_str(&format!("&{}={}", text("name"), text("example")));
                }
                client.get(&path).expect(200);
                clamped += 1;
            }
        }
    }
    assert!(clamped >= 8, "only {clamped} limits were found");
    client.get("/api/v1/dead-jobs?page=99999999999999999999").expect(200);
}

#[test]
fn a_literal_path_segment_is_not_an_id() {
    let server = Server::start();
    let client = server.client();
    client.get("/api/v1/jobs/nothing").refused(404, "job_not_found");
    for (path, methods) in [
        ("/api/v1/jobs/batch", "POST"),
        ("/api/v1/errors/bulk", "POST"),
        ("/api/v1/dashboards/import", "POST"),
        ("/api/v1/dead-jobs/analytics", "GET, HEAD"),
        ("/api/v1/workers/stats", "GET, HEAD"),
        ("/api/v1/workers/quiet-all", "POST"),
        // A metric may have this name.
        ("/api/v1/metrics/batch", "GET, HEAD, POST, DELETE"),
    ] {
        let response = client.request("OPTIONS", path).send();
        response.refused(405, "method_not_allowed");
        assert_eq!(response.must_header("allow"), methods, "{path}");
    }
}

#[test]
fn integers_may_have_a_zero_fraction() {
    let server = Server::start();
    let client = server.client();
    let job = json!({"class_name": "A", "max_attempts": 3.0, "timeout_seconds": 6e1});
    let id = client.post("/api/v1/jobs", &job).expect(201)["job_id"].clone();
    let path = format!("/api/v1/jobs/{}", id.as_str().unwrap_or_default());
    assert_eq!(client.get(&path).expect(200)["max_attempts"], 3);
    for wrong in [json!(1.5), json!("3"), json!(-1.0), json!(true)] {
        let response =
            client.post("/api/v1/jobs", &json!({"class_name": "A", "max_attempts": wrong}));
        assert!(matches!(response.status, 400 | 422), "{wrong}: {}", response.summary());
    }
}

#[test]
fn a_job_of_a_batch_that_is_a_list_is_refused() {
    let server = Server::start();
    let listed = json!({"jobs": [["A", null, null, null, null, null, null], {"class_name": "B"}]});
    let response = server.client().post("/api/v1/jobs/batch", &listed).expect(201);
    assert_eq!((&response["accepted"], &response["rejected"]), (&json!(1), &json!(1)));
    assert_eq!(response["errors"][0]["code"], "invalid_parameter");
}

#[test]
fn a_confirmation_in_the_query_string_needs_no_body() {
    let server = Server::start();
    let client = server.client();
    client.post("/api/v1/jobs", &json!({"class_name": "A", "queue": "q"})).expect(201);
    for path in ["/api/v1/dead-jobs?confirm=nul", "/api/v1/queues/q/jobs?confirm=nul"] {
        let body = match path.contains("dead") {
            true => json!({"confirm": true, "filter": {"queue": "q"}}),
            false => json!({"confirm": true}),
        };
        let response = client.request("DELETE", path).json(&body).send();
        response.refused_for(400, "invalid_parameter", "confirm");
    }
}
