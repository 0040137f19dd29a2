//! Tests of the area through its routes: every operation, what it rejects, and how it responds to
//! SDKs.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::{MemoryOwner, TimeRange, TimestampMs};

use super::model::GroupId;
use super::occurrences::tag_counts;
use super::wire::TagsView;
use crate::areas::testing::{Answer, NOW, TestServer};

/// Reports an error and returns its id.
#[track_caller]
fn report(house: &TestServer, kind: &str, message: &str) -> String {
    let body = json!({"exception": {"type": kind, "message": message}, "user": {"id": "ann"}});
    house.post("/api/v1/errors", &body).data(201)["id"].as_str().unwrap().to_owned()
}

fn titles(answer: Answer) -> Vec<String> {
    let data = answer.data(200);
    let title = |item: &Value| item["title"].as_str().unwrap_or_default().to_owned();
    data.as_array().into_iter().flatten().map(title).collect()
}

fn envelope(event: &Value) -> String {
    format!("{{}}\n{{\"type\":\"event\"}}\n{event}\n")
}

#[test]
fn an_error_is_reported_listed_and_shown() {
    let house = TestServer::open();
    let body = json!({
        "exception": {"type": "ValueError", "message": "bad 7\nmore", "backtrace": ["app/b.py:12 in load", "app/a.py:3 in main"]},
        "level": "fatal", "user": {"id": 5}, "tags": {"region": "eu"}, "environment": "prod", "release": "1.2",
    });
    let reported = house.post("/api/v1/errors", &body).data(201);
    let id = reported["id"].as_str().unwrap();
    assert!(id.starts_with("err_"), "{id}");
    let list = house.get("/api/v1/errors");
    assert_eq!(list.body["meta"], json!({"total": 1, "limit": 50, "offset": 0}));
    let now = crate::platform::time::format(NOW);
    let item = json!({
        "id": id, "title": "ValueError: bad 7", "status": "unresolved", "level": "fatal", "occurrences": 1,
        "users_affected": 1, "first_seen": now, "last_seen": now, "assignee": null,
    });
    assert_eq!(list.data(200), json!([item]));
    let detail = house.get(&format!("/api/v1/errors/{id}")).data(200);
    assert_eq!(
        detail["exception"],
        json!({"type": "ValueError", "message": "bad 7\nmore", "backtrace": ["app/b.py:12 in load", "app/a.py:3 in main"]})
    );
    let latest = &detail["latest_event"];
    assert_eq!((&latest["id"], &latest["timestamp"]), (&reported["event_id"], &json!(now)));
    assert_eq!((&latest["user"], &latest["tags"]), (&json!({"id": "5"}), &json!({"region": "eu"})));
    assert_eq!((&latest["environment"], &latest["release"]), (&json!("prod"), &json!("1.2")));
    assert_eq!(detail["culprit"], "app/b.py in load");
}

#[test]
fn an_invalid_report_is_refused() {
    let house = TestServer::open();
    for (body, status, code, field) in [
        (json!({}), 422, "missing_field", "exception"),
        (json!({"exception": {}}), 422, "missing_field", "exception.type"),
        (json!({"exception": 7}), 422, "invalid_field", "exception"),
        (json!({"exception": {"type": 7}}), 422, "invalid_field", "exception.type"),
        (
            json!({"exception": {"type": "E", "backtrace": "x"}}),
            422,
            "invalid_field",
            "exception.backtrace",
        ),
        (json!({"message": "m", "level": "loud"}), 422, "invalid_field", "level"),
        (json!({"message": "m", "timestamp": "yesterday"}), 422, "invalid_timestamp", "timestamp"),
        (
            json!({"message": "m", "timestamp": "2999-01-01T00:00:00Z"}),
            422,
            "invalid_timestamp",
            "timestamp",
        ),
        (json!({"message": "m", "user": "ann"}), 422, "invalid_field", "user"),
        (json!({"message": "m", "user": {"id": []}}), 422, "invalid_field", "user.id"),
        (json!({"message": "m", "tags": {"a": 1}}), 422, "invalid_tags", "tags"),
        (json!({"message": "m", "fingerprint": "f"}), 422, "invalid_field", "fingerprint"),
        (json!([]), 400, "invalid_json", ""),
    ] {
        house.post("/api/v1/errors", &body).refused(status, code, field);
    }
    assert_eq!(house.get("/api/v1/errors").data(200), json!([]));
}

#[test]
fn a_reported_time_is_kept() {
    const DAY_MS: i64 = 86_400_000;
    let house = TestServer::open();
    for (name, ms) in [("old", -40 * DAY_MS), ("now", 0), ("soon", DAY_MS / 2)] {
        let time = crate::platform::time::format(TimestampMs(NOW.0 + ms));
        house.post("/api/v1/errors", &json!({"message": name, "timestamp": time})).data(201);
        let list = house.get(&format!("/api/v1/errors?search={name}")).data(200);
        assert_eq!((&list[0]["first_seen"], &list[0]["last_seen"]), (&json!(time), &json!(time)));
        // The clock of an agent may be wrong: the time of receipt replaces an implausible time.
        let event = json!({"message": format!("sent {name}"), "timestamp": time});
        let sent = house.call(Method::POST, "/api/1/envelope/", &[], &envelope(&event));
        assert_eq!(sent.status, 200);
        let list = house.get(&format!("/api/v1/errors?search=sent%20{name}")).data(200);
        assert_eq!(list[0]["first_seen"], crate::platform::time::format(NOW));
    }
}

#[test]
fn an_exception_without_a_type_is_titled_by_its_message() {
    let house = TestServer::open();
    let body = json!({"exception": {"type": "", "message": "went wrong"}});
    house.post("/api/v1/errors", &body).data(201);
    assert_eq!(titles(house.get("/api/v1/errors")), ["went wrong"]);
    let empty = json!({"exception": {"type": "", "message": ""}});
    house.post("/api/v1/errors", &empty).refused(422, "missing_field", "exception.type");
}

#[test]
fn a_repeated_report_is_one_occurrence() {
    let house = TestServer::open();
    let body = json!({"message": "m"});
    let first = house.post_once("/api/v1/errors", "key", &body).data(201);
    let again = house.post_once("/api/v1/errors", "key", &body);
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(again.data(201), first);
    assert_eq!(house.get("/api/v1/errors").data(200)[0]["occurrences"], 1);
}

#[test]
fn lists_are_filtered_sorted_and_paged() {
    let house = TestServer::open();
    report(&house, "Alpha", "one");
    house.pass(60_000);
    let beta = report(&house, "Beta", "Two");
    house.pass(60_000);
    house.post("/api/v1/errors", &json!({"message": "gamma", "level": "warning"})).data(201);
    house.pass(1_000);
    report(&house, "Beta", "Two");
    house.post(&format!("/api/v1/errors/{beta}/assign"), &json!({"user_id": "ann"})).data(200);
    for (query, expected) in [
        ("", "Beta: Two,gamma,Alpha: one"),
        ("?sort=first_seen", "gamma,Beta: Two,Alpha: one"),
        ("?sort=occurrences&limit=1", "Beta: Two"),
        ("?limit=1&offset=1", "gamma"),
        ("?offset=9", ""),
        ("?status=resolved", ""),
        ("?status=unresolved&level=warning", "gamma"),
        ("?since=1m", "Beta: Two,gamma"),
        ("?search=TWO", "Beta: Two"),
        ("?search=a:", "Beta: Two,Alpha: one"),
        ("?search=%25", ""),
        ("?assignee=ann", "Beta: Two"),
        ("?assignee=", "gamma,Alpha: one"),
    ] {
        let found = titles(house.get(&format!("/api/v1/errors{query}")));
        let expected: Vec<&str> = expected.split(',').filter(|title| !title.is_empty()).collect();
        assert_eq!(found, expected, "{query}");
    }
    for (query, field) in [
        ("status=open", "status"),
        ("level=info", "level"),
        ("since=yesterday", "since"),
        ("sort=title", "sort"),
        ("limit=0", "limit"),
    ] {
        house.get(&format!("/api/v1/errors?{query}")).refused(400, "invalid_parameter", field);
    }
}

#[test]
fn errors_are_filtered_by_fields_of_their_occurrences() {
    let house = TestServer::open();
    let hour = |ago: i64| crate::platform::time::format(TimestampMs(NOW.0 - ago * 3_600_000));
    let report = |kind: &str, ago: i64, environment: &str, release: &str, region: &str| {
        let tags = json!({"region": region, "password": "x"});
        let body = json!({
            "exception": {"type": kind}, "timestamp": hour(ago), "environment": environment,
            "release": release, "tags": tags,
        });
        house.post("/api/v1/errors", &body).data(201);
    };
    report("A", 5, "prod", "1.0", "eu");
    report("B", 3, "prod", "1.0", "us");
    report("A", 1, "staging", "1.1", "us");
    for (query, expected) in [
        ("environment=prod".to_owned(), "A,B"),
        ("environment=staging".to_owned(), "A"),
        ("environment=staging&tags[region]=eu".to_owned(), ""),
        ("tags%5Bregion%5D=us".to_owned(), "A,B"),
        ("tags[region]=eu,asia".to_owned(), "A"),
        ("tags[region]=!us".to_owned(), "A"),
        ("tags[password]=x".to_owned(), ""),
        ("release=1.*".to_owned(), "A,B"),
        ("release=1.1&search=b".to_owned(), ""),
        // The first and the last occurrence of A are outside the range, and none is within it.
        (format!("from={}&to={}", hour(4), hour(2)), "B"),
        (format!("from={}", hour(2)), "A"),
        (format!("to={}", hour(4)), "A"),
        (format!("from={}&environment=prod", hour(4)), "B"),
        ("from=2026-01-02&to=2026-01-02".to_owned(), "A,B"),
        ("from=2026-01-03".to_owned(), ""),
        (format!("since={}", hour(2)), "A"),
        ("since=2026-01-02".to_owned(), "A,B"),
    ] {
        let found = titles(house.get(&format!("/api/v1/errors?{query}")));
        assert_eq!(found.join(","), expected, "{query}");
    }
    for (query, status, code, field) in [
        ("from=yesterday", 422, "invalid_timestamp", "from"),
        ("from=2026-01-03&to=2026-01-01", 422, "invalid_range", "from"),
        ("environment=a*,b", 400, "invalid_parameter", "environment"),
        ("tags[]=a", 400, "invalid_parameter", "tags[]"),
    ] {
        house.get(&format!("/api/v1/errors?{query}")).refused(status, code, field);
    }
    // A bulk action filters in the same way; a merged error counts as the one that it was merged
    // into.
    let list = house.get("/api/v1/errors").data(200);
    let id = |at: usize| list[at]["id"].as_str().unwrap_or_default().to_owned();
    let merge = json!({"ids": [id(1)]});
    house.post(&format!("/api/v1/errors/{}/merge", id(0)), &merge).data(200);
    let filter =
        json!({"from": hour(4), "to": hour(2), "environment": "prod", "tags": {"region": "us"}});
    let bulk = json!({"action": "resolve", "filter": filter});
    let result = house.post("/api/v1/errors/bulk", &bulk).data(200);
    assert_eq!(result, json!({"matched": 1, "changed": 1}));
    for (filter, code, field) in [
        (json!({"from": "yesterday"}), "invalid_timestamp", "filter.from"),
        (json!({"to": "yesterday"}), "invalid_timestamp", "filter.to"),
        (json!({"from": hour(2), "to": hour(4)}), "invalid_range", "filter.from"),
        (json!({"release": "a*,b"}), "invalid_field", "filter.release"),
        (json!({"tags": {"region": "a*,b"}}), "invalid_field", "filter.tags.region"),
        (json!({"tags": {"": "a"}}), "invalid_field", "filter.tags"),
    ] {
        let wrong = json!({"action": "resolve", "filter": filter});
        house.post("/api/v1/errors/bulk", &wrong).refused(422, code, field);
    }
}

#[test]
fn a_long_message_is_searched_up_to_the_documented_length() {
    let house = TestServer::open();
    let message = format!("short\n{}needle{}haystack", "x".repeat(1_500), "x".repeat(600));
    report(&house, "E", &message);
    for (search, found) in [("NEEDLE", 1), ("haystack", 0)] {
        let list = house.get(&format!("/api/v1/errors?search={search}"));
        assert_eq!(titles(list).len(), found, "{search}");
    }
    let longest = "x".repeat(2_001);
    let refused = house.get(&format!("/api/v1/errors?search={longest}"));
    refused.refused(400, "invalid_parameter", "search");
}

#[test]
fn a_later_arrival_is_a_regression_regardless_of_its_timestamp() {
    let house = TestServer::open();
    let id = report(&house, "E", "m");
    house.post(&format!("/api/v1/errors/{id}/resolve"), &json!({})).data(200);
    let long_ago = crate::platform::time::format(TimestampMs(NOW.0 - 3_600_000));
    let body = json!({"exception": {"type": "E", "message": "m"}, "timestamp": long_ago});
    assert_eq!(house.post("/api/v1/errors", &body).data(201)["id"], json!(id));
    let detail = house.get(&format!("/api/v1/errors/{id}")).data(200);
    assert_eq!(detail["status"], "unresolved");
    assert_eq!(detail["regressed_at"], crate::platform::time::format(NOW));
}

#[test]
fn errors_change_state_and_regress() {
    let house = TestServer::open();
    let id = report(&house, "E", "m");
    let path = |verb: &str| format!("/api/v1/errors/{id}/{verb}");
    let changed = house.post(&path("resolve"), &json!({"note": "fixed"})).data(200);
    assert_eq!((&changed["status"], &changed["note"]), (&json!("resolved"), &json!("fixed")));
    assert!(changed["resolved_at"].is_string());
    house.pass(1_000);
    let again = house.post(&path("resolve"), &json!({"note": "other"})).data(200);
    assert_eq!(again, changed, "a change to the current state changes nothing");
    assert_eq!(report(&house, "E", "m"), id);
    let detail = house.get(&format!("/api/v1/errors/{id}")).data(200);
    assert_eq!((&detail["status"], &detail["resolved_at"]), (&json!("unresolved"), &Value::Null));
    assert!(detail["regressed_at"].is_string());
    let changed =
        house.post(&path("ignore"), &json!({"duration": "30m", "reason": "noise"})).data(200);
    assert_eq!((&changed["status"], &changed["reason"]), (&json!("ignored"), &json!("noise")));
    assert!(changed["ignored_until"].is_string());
    let longer = json!({"duration": "1h", "reason": "more noise"});
    let again = house.post(&path("ignore"), &longer).data(200);
    assert_eq!(
        (&again["ignored_at"], &again["reason"]),
        (&changed["ignored_at"], &json!("more noise"))
    );
    assert_ne!(again["ignored_until"], changed["ignored_until"]);
    house.post(&path("ignore"), &json!({"duration": "30m"})).data(200);
    report(&house, "E", "m");
    assert_eq!(titles(house.get("/api/v1/errors?status=ignored")).len(), 1);
    house.pass(30 * 60_000);
    assert_eq!(titles(house.get("/api/v1/errors?status=unresolved")).len(), 1);
    let changed = house.call(Method::POST, &path("ignore"), &[], "").data(200);
    assert_eq!((&changed["status"], &changed["ignored_until"]), (&json!("ignored"), &Value::Null));
    let changed = house.call(Method::POST, &path("unresolve"), &[], "").data(200);
    assert_eq!(changed["status"], "unresolved");
    let changed = house.post(&path("assign"), &json!({"user_id": "ann"})).data(200);
    assert_eq!(changed["assignee"], "ann");
    let changed = house.post(&path("assign"), &json!({"user_id": null})).data(200);
    assert_eq!(changed["assignee"], Value::Null);
}

#[test]
fn invalid_state_changes_are_refused() {
    let house = TestServer::open();
    let id = report(&house, "E", "m");
    for (verb, body, code, field) in [
        ("resolve", json!({"note": "x".repeat(2_000)}), "invalid_field", "note"),
        ("ignore", json!({"duration": "soon"}), "invalid_field", "duration"),
        ("ignore", json!({"duration": "0m"}), "invalid_field", "duration"),
        ("assign", json!({}), "missing_field", "user_id"),
        ("assign", json!({"user_id": ""}), "invalid_field", "user_id"),
        ("merge", json!({}), "missing_field", "ids"),
        ("merge", json!({"ids": []}), "invalid_field", "ids"),
    ] {
        house.post(&format!("/api/v1/errors/{id}/{verb}"), &body).refused(422, code, field);
    }
    let resolve = format!("/api/v1/errors/{id}/resolve");
    house.post(&resolve, &json!({"nota": "x"})).refused(400, "invalid_parameter", "nota");
    let unknown = "/api/v1/errors/err_00000000000000000000000000";
    for verb in ["resolve", "ignore", "unresolve"] {
        house.post(&format!("{unknown}/{verb}"), &json!({})).refused(404, "error_not_found", "");
    }
    for path in [unknown, "/api/v1/errors/nobody"] {
        house.get(path).refused(404, "error_not_found", "");
        house.delete(path).refused(404, "error_not_found", "");
        house.get(&format!("{path}/events")).refused(404, "error_not_found", "");
        house.get(&format!("{path}/series")).refused(404, "error_not_found", "");
    }
}

#[test]
fn a_deleted_error_is_gone_and_recurs_as_a_new_error() {
    let house = TestServer::open();
    let id = report(&house, "E", "m");
    let gone = house.delete(&format!("/api/v1/errors/{id}")).data(200);
    assert_eq!(gone, json!({"id": id, "deleted": true}));
    house.get(&format!("/api/v1/errors/{id}")).refused(404, "error_not_found", "");
    house.delete(&format!("/api/v1/errors/{id}")).refused(404, "error_not_found", "");
    let new = report(&house, "E", "m");
    assert_ne!(new, id);
    house.app().errors().delete_events().unwrap();
    let left = house.get("/api/v1/events?name=telltale.error").data(200);
    assert_eq!(left.as_array().map(Vec::len), Some(1));
    assert_eq!(left[0]["tags"]["error_id"], json!(new));
}

#[test]
fn many_errors_are_changed_or_deleted_in_bulk() {
    let house = TestServer::open();
    let ids: Vec<String> = ["A", "B", "C"].iter().map(|kind| report(&house, kind, "m")).collect();
    let bulk = |body: Value| house.post("/api/v1/errors/bulk", &body);
    let result =
        bulk(json!({"action": "resolve", "ids": [ids[0], ids[1], ids[0]], "note": "n"})).data(200);
    assert_eq!(result, json!({"matched": 2, "changed": 2}));
    let result = bulk(json!({"action": "ignore", "filter": {"search": "b:"}})).data(200);
    assert_eq!(result, json!({"matched": 1, "changed": 1}));
    assert_eq!(titles(house.get("/api/v1/errors?status=ignored")), ["B: m"]);
    for (body, code, field) in [
        (json!({"ids": ids}), "missing_field", "action"),
        (json!({"action": "burn", "ids": ids}), "invalid_field", "action"),
        (json!({"action": "delete", "ids": ids}), "missing_field", "confirm"),
        (json!({"action": "resolve"}), "missing_field", "ids"),
        (json!({"action": "resolve", "ids": ids, "filter": {}}), "invalid_field", "filter"),
        (json!({"action": "resolve", "filter": {"status": "x"}}), "invalid_field", "filter.status"),
    ] {
        bulk(body).refused(422, code, field);
    }
    let result =
        bulk(json!({"action": "delete", "filter": {"status": "resolved"}, "confirm": true}))
            .data(200);
    assert_eq!(result, json!({"matched": 1, "changed": 1}));
    assert_eq!(titles(house.get("/api/v1/errors")).len(), 2);
}

#[test]
fn merged_errors_count_past_and_later_occurrences_together() {
    let house = TestServer::open();
    let (a, b) = (report(&house, "A", "m"), report(&house, "B", "m"));
    let merged = house.post(&format!("/api/v1/errors/{a}/merge"), &json!({"ids": [b]})).data(200);
    assert_eq!(
        (&merged["id"], &merged["occurrences"], &merged["users_affected"]),
        (&json!(a), &json!(2), &json!(1))
    );
    assert_eq!(report(&house, "B", "m"), a);
    let events = house.get(&format!("/api/v1/errors/{a}/events?limit=2"));
    assert_eq!(events.body["meta"], json!({"total": 3, "limit": 2, "offset": 0}));
    assert_eq!(events.data(200)[0]["exception"]["type"], "B");
    let series = house.get(&format!("/api/v1/errors/{a}/series?interval=1h")).data(200);
    assert_eq!((&series["total"], &series["series"][0]["count"]), (&json!(3), &json!(3)));
    let detail = house.get(&format!("/api/v1/errors/{a}")).data(200);
    assert_eq!((&detail["merged"], &detail["merged_into"]), (&json!([b]), &json!(null)));
    // The id of a merged error leads to the group that it was merged into, except for deletion.
    let old = format!("/api/v1/errors/{b}");
    let found = house.get(&old).data(200);
    assert_eq!((&found["id"], &found["merged_into"]), (&json!(a), &json!(a)));
    assert_eq!(found["occurrences"], detail["occurrences"]);
    assert_eq!(house.get(&format!("{old}/series?interval=1h")).data(200)["total"], json!(3));
    let changed = house.post(&format!("{old}/assign"), &json!({"user_id": "ann"})).data(200);
    assert_eq!((&changed["id"], &changed["assignee"]), (&json!(a), &json!("ann")));
    let both = json!({"action": "resolve", "ids": [a, b]});
    let changed = house.post("/api/v1/errors/bulk", &both).data(200);
    assert_eq!(changed, json!({"matched": 1, "changed": 1}), "both are the same error now");
    house.delete(&old).refused(404, "error_not_found", "");
    let unknown = json!({"ids": ["err_00000000000000000000000000"]});
    house.post(&format!("/api/v1/errors/{a}/merge"), &unknown).refused(404, "error_not_found", "");
}

#[test]
fn envelopes_and_events_of_sdks_are_stored() {
    let house = TestServer::open();
    let id = "9ec79c33ec9942ab8353589fcb2e04dc";
    let event = json!({"event_id": id, "exception": {"values": [{"type": "E", "value": "v"}]}});
    for path in ["/api/1/envelope/", "/api/1/envelope"] {
        let answer = house.call(Method::POST, path, &[], &envelope(&event));
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({"id": id})));
    }
    for path in ["/api/2/store/", "/api/2/store"] {
        let answer = house.call(Method::POST, path, &[], &event.to_string());
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({"id": id})));
    }
    // The same event id in two projects is two occurrences.
    assert_eq!(house.get("/api/v1/errors").data(200)[0]["occurrences"], 2);
    let other = "{}\n{\"type\":\"session\"}\n{}\n{\"type\":\"transaction\"}\n{}\n";
    let answer = house.call(Method::POST, "/api/1/envelope/", &[], other);
    assert_eq!((answer.status.as_u16(), answer.body), (200, json!({})));
    house.call(Method::POST, "/api/1/envelope/", &[], "nonsense").refused(400, "invalid_json", "");
    house.call(Method::POST, "/api/1/store/", &[], "{").refused(400, "invalid_json", "");
    let large = format!("{{\"message\":\"{}\"}}", "x".repeat(2 << 20));
    house.call(Method::POST, "/api/1/store/", &[], &large).refused(413, "payload_too_large", "");
    house.call(Method::POST, "/api/x/envelope/", &[], "{}").refused(404, "not_found", "");
    house.call(Method::POST, "/api/v1/envelope/", &[], "{}").refused(404, "not_found", "");
    assert_eq!(titles(house.get("/api/v1/errors")).len(), 1);
}

#[test]
fn a_duplicate_event_in_one_envelope_counts_once() {
    let house = TestServer::open();
    let item = "{\"type\":\"event\"}\n{\"event_id\":\"9ec79c33ec9942ab8353589fcb2e04dc\",\"message\":\"m\"}\n";
    let answer = house.call(Method::POST, "/api/1/envelope/", &[], &format!("{{}}\n{item}{item}"));
    assert_eq!(answer.status, 200);
    assert_eq!(house.get("/api/v1/errors").data(200)[0]["occurrences"], 1);
}

#[test]
fn browsers_may_send_envelopes_from_any_origin() {
    let house = TestServer::open();
    let answer = house.call(Method::OPTIONS, "/api/1/envelope/", &[("origin", "https://x")], "");
    assert_eq!(answer.status, 204);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert!(
        answer.headers["access-control-allow-headers"].to_str().unwrap().contains("X-Sentry-Auth")
    );
    house.call(Method::OPTIONS, "/api/v1/errors", &[], "").refused(405, "method_not_allowed", "");
}

#[test]
fn counted_values_of_tags_count_as_memory_until_the_response_is_written() {
    let house = TestServer::open();
    let mut id = String::new();
    for n in 0..20 {
        let tags = json!({"host": format!("{n:0>150}"), "path": format!("{n:0>150}")});
        let body = json!({"exception": {"type": "E"}, "tags": tags});
        id = house.post("/api/v1/errors", &body).data(201)["id"].as_str().unwrap().to_owned();
    }
    let id = GroupId::parse(&id).unwrap();
    let held = || house.app().engine().memory().held_by(MemoryOwner::Queries);
    for (limit, expected) in [(20, 6_000..10_000), (1, 300..1_000)] {
        let range = TimeRange::new(0, i64::MAX);
        let counts = tag_counts(house.app(), id, range, None, limit).unwrap();
        assert_eq!(counts.tags.len(), 2);
        let view = TagsView::new(id, counts);
        assert!(expected.contains(&held()), "{}", held());
        drop(view);
        assert_eq!(held(), 0);
    }
}
