//! The server's own jobs: their queue and worker cannot be changed by users, are listed and counted
//! on request, and continue whatever users do.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, eventually};

use crate::jobs::{JOBS, register};
use crate::keys::text;

/// The queues of the server itself.
const OWN_QUEUES: [&str; 11] = [
    "telltale",
    "telltale-monitors",
    "telltale-monitors-slow",
    "telltale-monitors-trial",
    "telltale-notify",
    "telltale-notify-slow",
    "telltale-repositories",
    "telltale-repositories-looks",
    "telltale-snapshots",
    "telltale-status-confirm",
    "telltale-status-mail",
];

const QUEUES: &str = "/api/v1/queues";
const WORKERS: &str = "/api/v1/workers";

/// Returns the names of the queues, and their reported number.
#[track_caller]
fn queues(client: &Client, query: &str) -> (Vec<String>, Value) {
    let listed = client.get(&format!("{QUEUES}{query}")).expect(200);
    let all = listed["queues"].as_array().into_iter().flatten();
    (all.map(|queue| text(&queue["name"]).to_owned()).collect(), listed["total"].clone())
}

/// Waits for the server's own workers, and returns that of the first queue.
#[track_caller]
fn own_worker(client: &Client) -> Value {
    eventually("the server's worker", || {
        let listed = client.get(&format!("{WORKERS}?internal=true")).expect(200);
        let all = listed["workers"].as_array().filter(|all| all.len() >= OWN_QUEUES.len())?;
        all.iter().find(|worker| worker["queues"] == json!(["telltale"])).cloned()
    })
}

#[test]
fn internal_queues_and_workers_are_listed_and_counted_on_request() {
    let server = Server::start();
    let client = server.client();
    own_worker(&client);
    assert_eq!(queues(&client, ""), (Vec::new(), json!(0)));
    assert_eq!(queues(&client, "?internal=false").0, [""; 0]);
    let own = OWN_QUEUES.map(str::to_owned).into();
    assert_eq!(queues(&client, "?internal=true"), (own, json!(OWN_QUEUES.len())));
    let listed = client.get(WORKERS).expect(200);
    assert_eq!((&listed["workers"], &listed["summary"]["total_workers"]), (&json!([]), &json!(0)));
    assert_eq!(listed["summary"]["total_threads"], 0);
    register(&client, &["mail"]);
    let all: Vec<&str> = ["mail"].into_iter().chain(OWN_QUEUES).collect();
    assert_eq!(queues(&client, "?internal=true").0, all);
    let summary = |query: &str| {
        client.get(&format!("{WORKERS}{query}")).expect(200)["summary"]["total_workers"].clone()
    };
    assert_eq!((summary(""), summary("?internal=true")), (json!(1), json!(OWN_QUEUES.len() + 1)));
    for path in [QUEUES, WORKERS, "/api/v1/workers/stats", "/api/v1/dead-jobs"] {
        client.get(&format!("{path}?internal=yes")).refused_for(
            400,
            "invalid_parameter",
            "internal",
        );
    }
    for path in ["/api/v1/dead-jobs", "/api/v1/dead-jobs/analytics"] {
        client.get(&format!("{path}?internal=true")).expect(200);
    }
    let most = |query: &str| {
        let stats = client.get(&format!("{WORKERS}/stats{query}")).expect(200)["stats"].clone();
        stats["max_workers"].as_f64().unwrap_or_default()
    };
    let all = (OWN_QUEUES.len() + 1) as f64;
    eventually("both histories", || {
        (most("") == 1.0 && most("?internal=true") == all).then_some(())
    });
    let processed = |query: &str| {
        let stats = client.get(&format!("{WORKERS}/stats{query}")).expect(200)["stats"].clone();
        stats["total_processed"].as_u64().unwrap_or_default()
    };
    // It deletes old dead jobs when it starts.
    eventually("its own work in the sums", || (processed("?internal=true") >= 1).then_some(()));
    assert_eq!(processed(""), 0);
}

#[test]
fn clients_cannot_use_internal_queues() {
    let server = Server::start();
    let client = server.client();
    own_worker(&client);
    for queue in ["telltale", "telltale.mine", "telltales"] {
        let body = json!({"class_name": "A", "queue": queue});
        client.post(JOBS, &body).refused_for(422, "reserved_name", "queue");
        let about = json!({"hostname": "h", "queues": ["mail", queue]});
        client.post(WORKERS, &about).refused_for(422, "reserved_name", "queues");
        for verb in ["pause", "resume"] {
            let path = format!("{QUEUES}/{queue}/{verb}");
            client.post(&path, &json!({})).refused_for(422, "reserved_name", "name");
        }
        let purge = format!("{QUEUES}/{queue}/jobs?confirm=true");
        client.delete(&purge).refused_for(422, "reserved_name", "name");
        let path = format!("{QUEUES}/{queue}");
        client.delete(&path).refused_for(422, "reserved_name", "name");
    }
    let jobs = json!([{"class_name": "A", "queue": "telltale"}, {"class_name": "A"}]);
    let batch = client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
    assert_eq!((&batch["accepted"], &batch["rejected"]), (&json!(1), &json!(1)), "{batch}");
    assert_eq!(batch["errors"][0]["code"], "reserved_name");
    // Reading it is allowed.
    assert_eq!(client.get(&format!("{QUEUES}/telltale")).expect(200)["status"], "healthy");
    client.get(&format!("{QUEUES}/telltale/metrics")).expect(200);
    assert_eq!(queues(&client, "").0, ["default"]);
}

#[test]
fn clients_cannot_stop_the_internal_worker() {
    let mut server = Server::start();
    let client = server.client();
    let own = own_worker(&client);
    let path = format!("{WORKERS}/{}", text(&own["id"]));
    register(&client, &["mail"]);
    let quieted = client.post(&format!("{WORKERS}/quiet-all"), &json!({})).expect(200);
    assert_eq!(quieted["workers_quieted"], 1, "{quieted}");
    for verb in ["quiet", "stop", "heartbeat", "fetch"] {
        client.post(&format!("{path}/{verb}"), &json!({})).refused(409, "invalid_state");
    }
    client.delete(&path).refused(409, "invalid_state");
    assert_eq!(client.get(&path).expect(200)["status"], "active");
    server.restart();
    assert_eq!(own_worker(&server.client())["status"], "active");
}

#[test]
fn a_worker_cannot_have_more_busy_threads_than_threads() {
    let server = Server::start();
    let client = server.client();
    let about = json!({"hostname": "h", "queues": ["mail"], "concurrency": 2});
    let made = client.post(WORKERS, &about).expect(201);
    let worker = format!("{WORKERS}/{}", text(&made["id"]));
    client.post(&format!("{worker}/heartbeat"), &json!({"busy_threads": 9})).expect(200);
    assert_eq!(client.get(&worker).expect(200)["busy_threads"], 2);
    let summary = client.get(WORKERS).expect(200)["summary"].clone();
    assert_eq!((&summary["busy_threads"], &summary["idle_threads"]), (&json!(2), &json!(0)));
}
