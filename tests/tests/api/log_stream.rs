//! The stream that the log goes to is somebody else's: closed, or never read, it costs lines and
//! nothing else.

use serde_json::json;
use telltale_tests::{LogReader, Server, Setup, eventually};

/// Requests whose lines fill a pipe, and the queue before it, many times over.
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
        let answer = client.post("/api/v1/metrics", &point);
        assert_eq!(answer.status, 201, "request {n}: {}", answer.summary());
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
fn a_log_that_nobody_reads_holds_nobody_up() {
    answers_and_stops(serve_with(LogReader::Sleeps));
}

#[test]
fn a_log_that_is_closed_ends_nothing() {
    answers_and_stops(serve_with(LogReader::Leaves));
}

#[test]
fn what_goes_well_is_not_logged_by_default() {
    let server = Server::start();
    let client = server.client();
    client.get("/api/v1/dashboards").expect(200);
    client.get("/api/v1/nothing").expect(404);
    let logged = || server.log().iter().filter(|line| line.contains("\"request\"")).count();
    eventually("the refusal to be logged", || (logged() == 1).then_some(()));
}
