//! What is known of monitors over time: states, uptime, metrics and alerts, also after crashes.

use serde_json::{Value, json};
use telltale_tests::{Client, Setup, covers, eventually, iso, now_ms, parse_iso};

use crate::keys::text;
use crate::monitors::{MONITORS, Target, check, http, monitor, start};

#[test]
fn states_uptime_and_metrics_agree_with_what_happened_also_after_a_crash() {
    covers!("GET /api/v1/monitors/{id}/history", Happy);
    covers!("GET /api/v1/monitors/{id}/uptime", Happy);
    let mut target = Target::start();
    let mut server = start(&target);
    let client = server.client();
    let path = monitor(&client, &http(&target.url("/state")));
    let up = eventually("the first check", || {
        let found = client.get(&path).expect(200);
        (found["status"] == "up").then_some(found)
    });
    target.turn("down");
    let down = check(&client, &path);
    assert_eq!(
        (&down["status"], &down["status_reason"]),
        (&json!("down"), &json!("HTTP 503, expected 2xx"))
    );
    server.kill9();
    let killed_at = now_ms();
    server.restart();
    let client = server.client();
    let found = client.get(&path).expect(200);
    for field in ["status", "status_since", "status_reason", "last_check"] {
        assert_eq!(found[field], down[field], "{field} survives");
    }
    let restarted_at = now_ms();
    target.turn("up");
    let last = check(&client, &path);
    assert_eq!(last["status"], "up");
    let history = client.get(&format!("{path}/history")).expect(200)["history"].clone();
    let states: Vec<&Value> = (0..3).map(|i| &history[i]["status"]).collect();
    assert_eq!(states, ["up", "down", "up"]);
    let at = |i: usize| parse_iso(text(&history[i]["at"]));
    assert_eq!(at(2), parse_iso(text(&up["status_since"])));
    assert_eq!(at(1), parse_iso(text(&down["status_since"])));

    let uptime = client.get(&format!("{path}/uptime?days=2")).expect(200);
    let sum = |field: &str| {
        let days = uptime["days"].as_array().map(Vec::as_slice).unwrap_or_default();
        days.iter().map(|day| day[field].as_f64().unwrap_or_default()).sum::<f64>() * 1e3
    };
    let was_up = (at(1) - at(2)) as f64;
    let up_since = (now_ms() - at(0)) as f64;
    let up = sum("up_seconds");
    assert!((was_up..was_up + up_since + 1_000.0).contains(&up), "{uptime}: {was_up} ms and more");
    // Until the crash, and from the restart on; not between.
    let known = (killed_at - at(1)) + (at(0) - restarted_at);
    let most = known as f64 + 1_500.0;
    // What the restarted server knew before its first answer is not known here.
    let least = (at(0) - restarted_at) as f64;
    assert!((least..most).contains(&sum("down_seconds")), "{uptime}: {least} to {most} ms");
    let metric = |name: &str| {
        let path = format!(
            "/api/v1/metrics/telltale.monitor.{name}/query?aggregation=last&tags[monitor]={}",
            text(&last["id"])
        );
        let series = client.get(&path).data(200)["series"].clone();
        let values = series.as_array().into_iter().flatten().map(|point| point["value"].as_f64());
        values.flatten().next_back()
    };
    assert_eq!(metric("up"), Some(1.0));
    // Whole milliseconds: 0 is possible.
    let response_ms = last["last_check"]["response_ms"].as_f64();
    assert!(response_ms.is_some(), "{last}");
    assert_eq!(metric("response_ms"), response_ms);
}

#[test]
fn a_monitor_whose_secrets_cannot_be_opened_keeps_its_history() {
    let target = Target::start();
    let mut server = start(&target);
    let client = server.client();
    let mut body = http(&target.url("/state"));
    body["headers"] = json!({"X-Token": "0123456789abcdef"});
    let path = monitor(&client, &body);
    assert_eq!(check(&client, &path)["status"], "up");
    let history = client.get(&format!("{path}/history")).expect(200);
    let key = server.data().join("secret.key");
    let aside = server.data().join("aside");
    server.kill9();
    std::fs::rename(&key, &aside).unwrap();
    server.restart();
    // None is made in the place of the missing one.
    server.client().post(MONITORS, &body).refused(503, "unavailable");
    assert!(!key.exists());
    server.kill9();
    std::fs::rename(&aside, &key).unwrap();
    server.restart();
    assert_eq!(server.client().get(&format!("{path}/history")).expect(200), history);
    assert_eq!(check(&server.client(), &path)["status"], "up");
}

#[test]
fn a_crash_in_a_maintenance_is_no_downtime() {
    let mut target = Target::start();
    let mut server = start(&target);
    let client = server.client();
    let path = monitor(&client, &http(&target.url("/state")));
    assert_eq!(check(&client, &path)["status"], "up");
    let id = text(&client.get(&path).expect(200)["id"]).to_owned();
    let page = json!({"name": "Shop", "subdomain": "shop", "monitors": [id]});
    let page = text(&client.post("/api/v1/status-pages", &page).expect(201)["id"]).to_owned();
    let times = [now_ms() - 1_000, now_ms() + 3_600_000].map(iso);
    let maintenance =
        json!({"title": "Disks", "monitors": [id], "starts_at": times[0], "ends_at": times[1]});
    client.post(&format!("/api/v1/status-pages/{page}/maintenance"), &maintenance).expect(201);
    let counted = |client: &Client, field: &str| {
        let uptime = client.get(&format!("{path}/uptime?days=2")).expect(200);
        let days = uptime["days"].as_array().into_iter().flatten();
        days.map(|day| day[field].as_f64().unwrap_or_default()).sum::<f64>()
    };
    eventually("the maintenance counts", || {
        (counted(&client, "maintenance_seconds") > 0.0).then_some(())
    });
    target.turn("down");
    assert_eq!(check(&client, &path)["status"], "down");
    let before = counted(&client, "maintenance_seconds");
    eventually("two more seconds", || {
        (counted(&client, "maintenance_seconds") > before + 2.0).then_some(())
    });
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(counted(&client, "down_seconds"), 0.0);
    assert!(counted(&client, "maintenance_seconds") >= before);
}

#[test]
fn a_pause_is_not_observed() {
    covers!("POST /api/v1/monitors/{id}/pause", Happy);
    covers!("POST /api/v1/monitors/{id}/resume", Happy);
    covers!("POST /api/v1/monitors/{id}/pause", Refusal);
    covers!("POST /api/v1/monitors/{id}/resume", Refusal);
    covers!("POST /api/v1/monitors/{id}/check", Refusal);
    let target = Target::start();
    let server = start(&target);
    let client = server.client();
    let path = monitor(&client, &http(&target.url("/state")));
    check(&client, &path);
    let act = |verb: &str| client.post(&format!("{path}/{verb}"), &json!({}));
    act("resume").refused(409, "invalid_state");
    let paused = act("pause").expect(200);
    assert_eq!((&paused["status"], &paused["paused"]), (&json!("paused"), &json!(true)));
    act("pause").refused(409, "invalid_state");
    act("check").refused(409, "invalid_state");
    let counted = || {
        let uptime = client.get(&format!("{path}/uptime?days=2")).expect(200);
        let days = uptime["days"].as_array().into_iter().flatten();
        days.map(|day| day["up_seconds"].as_f64().unwrap_or_default()).sum::<f64>()
    };
    let before = counted();
    eventually("a second", || {
        (now_ms() > parse_iso(text(&paused["status_since"])) + 1_000).then_some(())
    });
    assert_eq!(before, counted(), "nothing is counted");
    let resumed = act("resume").expect(200);
    assert_eq!(resumed["paused"], json!(false));
    // Although the interval is a day.
    eventually("a check", || (client.get(&path).expect(200)["status"] == "up").then_some(()));
}

#[test]
fn an_alert_rule_watches_a_monitor() {
    let mut target = Target::start();
    let server = Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("alerting.evaluation_interval", "\"200ms\"")
        .start();
    let client = server.client();
    let path = monitor(&client, &http(&target.url("/state")));
    let id = path.trim_start_matches(MONITORS).trim_start_matches('/').to_owned();
    let rule = json!({
        "name": "Shop is down",
        "query": {"metric": "telltale.monitor.up", "aggregation": "last", "tags": {"monitor": id}},
        "condition": {"op": "lt", "threshold": 1},
    });
    client.post("/api/v1/alert_rules", &rule).data(201);
    target.turn("down");
    check(&client, &path);
    let firing = eventually("the alert", || {
        let alerts = client.get("/api/v1/alerts?status=firing").data(200);
        (alerts[0]["rule_name"] == "Shop is down").then_some(alerts)
    });
    assert_eq!(firing.as_array().map(Vec::len), Some(1), "{firing}");
}

#[test]
fn an_alert_rule_watches_a_heartbeat_that_stops() {
    let server = Setup::new().set("alerting.evaluation_interval", "\"200ms\"").start();
    let client = server.client();
    let body =
        json!({"name": "Backup", "type": "heartbeat", "interval_seconds": 10, "grace_seconds": 0});
    let path = monitor(&client, &body);
    let id = path.trim_start_matches(MONITORS).trim_start_matches('/').to_owned();
    client.post(&format!("{path}/heartbeat"), &json!({})).expect(200);
    let rule = json!({
        "name": "Backup is down",
        "query": {"metric": "telltale.monitor.up", "aggregation": "last", "tags": {"monitor": id}},
        "condition": {"op": "lt", "threshold": 1},
    });
    client.post("/api/v1/alert_rules", &rule).data(201);
    eventually("the alert", || {
        let alerts = client.get("/api/v1/alerts?status=firing").data(200);
        (alerts[0]["rule_name"] == "Backup is down").then_some(())
    });
}

#[test]
fn a_monitor_is_down_only_after_its_retries_and_then_since_the_first() {
    let mut target = Target::start();
    let server = start(&target);
    let client = server.client();
    let mut body = http(&target.url("/state"));
    body["retries"] = json!(2);
    let path = monitor(&client, &body);
    assert_eq!(check(&client, &path)["status"], "up");
    target.turn("down");
    let first = check(&client, &path);
    assert_eq!(
        (&first["status"], &first["last_check"]["result"]),
        (&json!("up"), &json!("failed"))
    );
    assert_eq!(check(&client, &path)["status"], "up");
    let down = check(&client, &path);
    assert_eq!(
        (&down["status"], &down["status_since"]),
        (&json!("down"), &first["last_check"]["at"])
    );
    target.turn("up");
    assert_eq!(check(&client, &path)["status"], "up");
}
