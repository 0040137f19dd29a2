//! The log stream is controlled by others: closed or never read, it loses lines and has no other
//! effect.

use serde_json::json;
use telltale_tests::{LogReader, Server, Setup, eventually};

/// Requests whose log lines fill the pipe and the queue before it many times.
const REQUESTS: usize = 3_000;

fn serve_with(reader: LogReader) -> Server {
    let setup = Setup::new().set("log.level", "\"debug\"").set("log.queue_lines", "100");
    setup.log_reader(reader).start()
}

#[track_caller]
fn answers_and_stops(mut server: Server) {
    let client = server.client();
    for n in 0..REQUESTS {
        let point = json!({ "type": "counter", "name": "orders", "value": 1 });
        let response = client.post("/api/v1/metrics", &point);
        assert_eq!(response.status, 201, "request {n}: {}", response.summary());
    }
    client.get("/healthz").expect(200);
    client.get("/readyz").expect(200);
    let figures = client.get("/metrics");
    let dropped = figures
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("telltale_log_lines_dropped_total "));
    let dropped: Option<u64> = dropped.and_then(|count| count.parse().ok());
    assert!(
        dropped.is_some_and(|lines| lines > 0),
        "those dropped are counted: {}",
        figures.text()
    );
    assert!(server.terminate().success());
}

#[test]
fn an_unread_log_blocks_no_request() {
    answers_and_stops(serve_with(LogReader::Sleeps));
}

#[test]
fn a_closed_log_does_not_stop_the_server() {
    answers_and_stops(serve_with(LogReader::Leaves));
}

#[test]
fn successful_requests_are_not_logged_by_default() {
    let server = Server::start();
    let client = server.client();
    client.get("/api/v1/dashboards").expect(200);
    client.get("/api/v1/nothing").expect(404);
    let logged = || server.log().iter().filter(|line| line.contains("\"request\"")).count();
    eventually("the refusal to be logged", || (logged() == 1).then_some(()));
}
