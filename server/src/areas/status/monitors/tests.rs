//! How checks are handed out as jobs, and come back.

use serde_json::json;
use telltale_engine::Options;

use super::condition::{CheckResult, Verdict};
use super::enqueue_due;
use super::model::MonitorState;
use super::table::{DueCheck, Maintained, MonitorTable};
use crate::areas::testing::TestServer;
use crate::config::Config;
use crate::platform::outbound::Lane;

/// Opens a server with monitors of public addresses, whose jobs do not run.
fn open(monitors: usize, queue_waiting_max: usize) -> TestServer {
    let mut config = Config::default();
    config.jobs.queue_waiting_max = queue_waiting_max;
    let server = TestServer::serving(Options::default(), &config, crate::areas::routes());
    for n in 0..monitors {
        let url = format!("https://shop.example.com/{n}");
        let body = json!({"name": "Shop", "type": "http", "url": url});
        server.post("/api/v1/monitors", &body).whole(201);
    }
    server
}

fn table(server: &TestServer) -> &MonitorTable {
    server.app().status().monitors()
}

#[track_caller]
fn only(due: Vec<DueCheck>) -> DueCheck {
    let [one] = due.try_into().unwrap();
    one
}

#[test]
fn checks_whose_jobs_are_accepted_are_made_though_others_are_refused() {
    let server = open(5, 3);
    enqueue_due(server.app()).unwrap_err();
    let handed_back = table(&server).hand_out();
    assert_eq!(handed_back.len(), 2, "three wait for their jobs");
    assert!(handed_back.iter().all(|check| check.number == 1), "{handed_back:?}");
}

#[test]
fn a_check_that_is_slower_than_usual_is_made_again_on_trial() {
    let server = open(1, 10);
    let table = table(&server);
    let first = only(table.hand_out());
    assert_eq!(first.lane, Lane::Trial, "nothing is known");
    let monitor = table.begin(first).unwrap().monitor;
    let up = || CheckResult {
        at: server.app().now(),
        verdict: Verdict::Up,
        response_ms: Some(7),
        certificate_ends_at: None,
        timed_out: false,
        took_ms: 7,
    };
    table.observe(&monitor, up()).unwrap();
    assert_eq!(table.hand_out(), []);
    server.pass(61_000);
    let second = only(table.hand_out());
    assert_eq!(second.lane, Lane::Usual);
    table.hand_back_slower(first, server.app().now());
    assert_eq!(table.hand_out(), [], "the check was done long ago");
    let began = server.app().now();
    table.hand_back_slower(second, began);
    assert!(table.begin(second).is_none(), "its job does nothing any more");
    let third = only(table.hand_out());
    assert_eq!(third.lane, Lane::Trial);
    table.observe(&monitor, up()).unwrap();
    server.pass(61_000);
    // Otherwise the server seems not to have run.
    table.pass_time(&Maintained::default()).unwrap();
    let fourth = only(table.hand_out());
    assert_eq!(fourth.lane, Lane::Usual);
    // If it fails on trial too, it was down since the check that was given up.
    let began = server.app().now();
    table.hand_back_slower(fourth, began);
    for _ in 0..=monitor.settings.retries {
        server.pass(1_000);
        let verdict = Verdict::Failed("it hangs".to_owned());
        table.observe(&monitor, CheckResult { verdict, timed_out: true, ..up() }).unwrap();
    }
    let condition = table.get(monitor.id).unwrap().condition;
    assert_eq!((condition.state, condition.since), (MonitorState::Down, began));
}

#[test]
fn another_target_is_checked_at_once_among_those_of_which_nothing_is_known() {
    let server = open(1, 10);
    let table = table(&server);
    let first = only(table.hand_out());
    let monitor = table.begin(first).unwrap().monitor;
    for _ in 0..=monitor.settings.retries {
        let reason = "it hangs".to_owned();
        let result = CheckResult {
            at: server.app().now(),
            verdict: Verdict::Failed(reason),
            response_ms: None,
            certificate_ends_at: None,
            timed_out: true,
            took_ms: 10_000,
        };
        table.observe(&monitor, result).unwrap();
        server.pass(1_000);
    }
    server.pass(61_000);
    assert_eq!(only(table.hand_out()).lane, Lane::Slow);
    let path = format!("/api/v1/monitors/{}", monitor.id.text());
    let body = json!({"url": "https://shop.example.com/other"}).to_string();
    let headers = [("content-type", "application/json")];
    server.call(http::Method::PATCH, &path, &headers, &body).whole(200);
    assert_eq!(only(table.hand_out()).lane, Lane::Trial);
}
