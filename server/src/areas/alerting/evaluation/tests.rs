//! Rules that are evaluated on samples and events, through the API.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::Options;

use super::evaluate;
use crate::areas::testing::TestServer;

const RULES: &str = "/api/v1/alert_rules";
const ALERTS: &str = "/api/v1/alerts";
const MINUTE_MS: i64 = 60_000;

/// A server whose rules are evaluated when a test says so.
struct House(TestServer);

impl House {
    fn open() -> Self {
        Self(TestServer::open())
    }

    /// Creates a rule about the average of `cpu` above 90 over a minute, with changes.
    fn rule(&self, changes: &Value) -> String {
        let mut rule = json!({
            "name": "CPU high",
            "query": {"metric": "cpu", "aggregation": "avg"},
            "condition": {"op": "gt", "threshold": 90},
            "window": "1m",
        });
        if let (Some(rule), Some(changes)) = (rule.as_object_mut(), changes.as_object()) {
            rule.extend(changes.clone());
        }
        self.0.post(RULES, &rule).data(201)["id"].as_str().unwrap().to_owned()
    }

    fn sample(&self, host: &str, value: f64) {
        let body = json!({"name": "cpu", "type": "gauge", "value": value, "tags": {"host": host}});
        self.0.post("/api/v1/metrics", &body).data(201);
    }

    /// Lets time pass, and evaluates all rules.
    fn evaluate_after(&self, ms: i64) {
        self.0.pass(ms);
        evaluate(self.0.app()).unwrap();
    }

    /// Returns the alerts with this status, as text of their labels and values, in order.
    fn alerts(&self, status: &str) -> Vec<String> {
        let listed = self.0.get(&format!("{ALERTS}?status={status}&limit=1000")).data(200);
        let shown = |alert: &Value| {
            let labels = alert["labels"].as_object().unwrap().values();
            let labels: Vec<&str> = labels.map(|value| value.as_str().unwrap()).collect();
            format!("{}={}", labels.join("/"), alert["value"])
        };
        let mut alerts: Vec<String> = listed.as_array().unwrap().iter().map(shown).collect();
        alerts.sort();
        alerts
    }

    /// Returns why a rule cannot be evaluated, if so.
    fn error(&self, rule: &str) -> Value {
        self.0.get(&format!("{RULES}/{rule}")).data(200)["evaluation"]["error"].clone()
    }
}

#[test]
fn each_group_that_meets_the_condition_has_an_alert() {
    let house = House::open();
    house.rule(&json!({"group_by": "tags.host"}));
    house.sample("a", 95.0);
    house.sample("b", 20.0);
    house.sample("c", 91.0);
    house.evaluate_after(1_000);
    assert_eq!(house.alerts("firing"), ["a=95", "c=91"]);
    // Nothing new, nothing twice.
    house.evaluate_after(1_000);
    assert_eq!(house.alerts("firing"), ["a=95", "c=91"]);
    house.sample("a", 10.0);
    house.evaluate_after(1_000);
    assert_eq!(house.alerts("firing"), ["c=91"]);
    assert_eq!(house.alerts("resolved"), ["a=52.5"]);
}

#[test]
fn the_wait_begins_with_the_first_evaluation_that_meets_the_condition() {
    let house = House::open();
    house.rule(&json!({"for": "30s"}));
    for (pass, expected) in [(0, 0), (15_000, 0), (14_000, 0), (1_000, 1)] {
        house.sample("a", 95.0);
        house.evaluate_after(pass);
        assert_eq!(house.alerts("firing").len(), expected, "after {pass} ms more");
    }
}

#[test]
fn data_that_is_missing_ends_an_alert_only_if_the_server_could_have_received_it() {
    let house = House::open();
    house.rule(&json!({"group_by": "tags.host"}));
    house.sample("a", 95.0);
    house.evaluate_after(0);
    // The window has no data, but the server has run for less than it.
    house.app_restarted();
    house.evaluate_after(MINUTE_MS);
    assert_eq!(house.alerts("firing"), ["a=95"]);
    house.evaluate_after(MINUTE_MS);
    assert_eq!((house.alerts("firing").len(), house.alerts("resolved").len()), (0, 1));
}

impl House {
    /// Forgets since when data is received, as a start does.
    fn app_restarted(&self) {
        let app = self.0.app();
        let until_next = std::time::Duration::from_millis(MINUTE_MS.unsigned_abs());
        app.alerting().evaluation().interrupted(app.clock().steady() + until_next);
    }
}

#[test]
fn the_absence_of_all_data_is_seen_after_the_window() {
    let house = House::open();
    house.rule(&json!({"condition": {"op": "absent"}}));
    house.evaluate_after(0);
    house.evaluate_after(MINUTE_MS - 1);
    assert_eq!(house.alerts("firing").len(), 0, "the window is not over since the start");
    house.evaluate_after(1);
    assert_eq!(house.alerts("firing"), ["=null"]);
    house.sample("a", 1.0);
    house.evaluate_after(0);
    assert_eq!(house.alerts("resolved"), ["=1"]);
}

#[test]
fn the_absence_of_a_group_is_seen_for_a_day() {
    let house = House::open();
    // One that was there before the rule, one that came later, one that never stops.
    house.sample("a", 1.0);
    house.0.pass(5 * MINUTE_MS);
    let clock = house.0.app().clock();
    house.0.app().alerting().evaluation().interrupted(clock.steady());
    house.rule(&json!({"condition": {"op": "absent"}, "group_by": "tags.host"}));
    house.sample("c", 1.0);
    house.evaluate_after(0);
    house.sample("b", 1.0);
    house.sample("c", 1.0);
    house.evaluate_after(MINUTE_MS - 1);
    assert_eq!(house.alerts("firing").len(), 0);
    house.sample("c", 1.0);
    house.evaluate_after(1);
    assert_eq!(house.alerts("firing"), ["a=null", "b=null"]);
    house.sample("b", 1.0);
    house.sample("c", 1.0);
    house.evaluate_after(1);
    assert_eq!(
        (house.alerts("firing"), house.alerts("resolved")),
        (vec!["a=null".to_owned()], vec!["b=1".to_owned()])
    );
    // Whatever sent `a` is gone; so is `b` by then, but not for long enough.
    house.0.pass(23 * 60 * MINUTE_MS);
    house.sample("c", 1.0);
    house.evaluate_after(59 * MINUTE_MS);
    house.sample("c", 1.0);
    house.evaluate_after(0);
    assert_eq!(house.alerts("firing"), ["b=null"]);
}

#[test]
fn rules_that_differ_in_their_filters_find_the_same_together_as_alone() {
    let house = House::open();
    let hosts = ["a", "b", "c", "d", "e", "f", "", "g,h", "i*", "!j"];
    let escaped = |host: &str| host.replace('*', "\\*").replace(',', "\\,").replace('!', "\\!");
    for (host, value) in hosts.iter().zip(0_u32..) {
        for (zone, more) in [("eu", 0.0), ("us", 50.0)] {
            let tags = if host.is_empty() {
                json!({"zone": zone})
            } else {
                json!({"host": host, "zone": zone})
            };
            let value = f64::from(value) * 10.0 + more;
            let body = json!({"name": "cpu", "type": "gauge", "value": value, "tags": tags});
            house.0.post("/api/v1/metrics", &body).data(201);
        }
    }
    let filtered = |tags: &Value| json!({"metric": "cpu", "aggregation": "max", "tags": tags});
    let rule = |name: &str, tags: &Value, group_by: &Value| {
        let condition = json!({"op": "gte", "threshold": 0});
        let query = filtered(tags);
        house.rule(
            &json!({"name": name, "query": query, "condition": condition, "group_by": group_by}),
        )
    };
    let mut expected = Vec::new();
    for (host, value) in hosts.iter().zip(0_u32..) {
        let text = escaped(host);
        // By one tag without groups, by one with groups, by two of which one is a group too.
        let by_host = rule("one", &json!({"host": text}), &Value::Null);
        let by_zone = rule("groups", &json!({"host": text}), &json!("tags.zone"));
        let both = json!({"host": text, "zone": "us"});
        let by_both = rule("two", &both, &json!("tags.zone"));
        let (low, high) = (f64::from(value) * 10.0, f64::from(value) * 10.0 + 50.0);
        expected.push((by_host, vec![format!("={high}")]));
        expected.push((by_zone, vec![format!("eu={low}"), format!("us={high}")]));
        expected.push((by_both, vec![format!("us={high}")]));
    }
    house.evaluate_after(0);
    for (rule, expected) in expected {
        let listed = house.0.get(&format!("{ALERTS}?rule_id={rule}")).data(200);
        let shown = |alert: &Value| {
            let labels = alert["labels"].as_object().unwrap().values();
            let labels: Vec<&str> = labels.map(|value| value.as_str().unwrap()).collect();
            format!("{}={}", labels.join("/"), alert["value"])
        };
        let mut found: Vec<String> = listed.as_array().unwrap().iter().map(shown).collect();
        found.sort();
        let query = house.0.get(&format!("{RULES}/{rule}")).data(200);
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn events_are_counted_and_their_absence_is_a_count_of_zero() {
    let house = House::open();
    let query = json!({"event": "order.failed", "aggregation": "count"});
    house.rule(
        &json!({"name": "Failures", "query": query, "condition": {"op": "gte", "threshold": 2}}),
    );
    let absent = json!({"name": "No orders", "query": {"event": "order.*", "aggregation": "sum"}, "condition": {"op": "absent"}});
    house.rule(&absent);
    house.evaluate_after(0);
    house.evaluate_after(MINUTE_MS);
    assert_eq!(house.alerts("firing"), ["=null"], "no orders");
    for _ in 0..2 {
        house.0.post("/api/v1/events", &json!({"name": "order.failed"})).data(201);
    }
    house.evaluate_after(0);
    assert_eq!(house.alerts("firing"), ["=2"], "two failures");
    assert_eq!(house.alerts("resolved"), ["=2"]);
}

#[test]
fn a_rule_that_cannot_be_evaluated_says_why_and_keeps_its_alerts() {
    let house = House::open();
    let rule = house.rule(&json!({}));
    house.sample("a", 95.0);
    house.evaluate_after(0);
    assert_eq!(house.error(&rule), Value::Null);
    house.0.delete("/api/v1/metrics/cpu").data(200);
    let body = json!({"name": "cpu", "type": "set", "value": "x"});
    house.0.post("/api/v1/metrics", &body).data(201);
    house.evaluate_after(10 * MINUTE_MS);
    let error = house.error(&rule);
    assert!(error.as_str().is_some_and(|text| text.contains("aggregation")), "{error}");
    assert_eq!(house.alerts("firing"), ["=95"]);
    let change = json!({"query": {"metric": "cpu", "aggregation": "count"}}).to_string();
    house.0.call(Method::PATCH, &format!("{RULES}/{rule}"), &[], &change).data(200);
    house.evaluate_after(0);
    assert_eq!((house.error(&rule), house.alerts("firing").len()), (Value::Null, 0));
}

#[test]
fn a_query_with_more_groups_than_the_engine_allows_is_an_error_of_its_rule_only() {
    let house = House(TestServer::with(Options { query_groups: 10, ..Options::default() }));
    let many = house.rule(&json!({"query": {"event": "e", "group_by": "tags.host"}}));
    // Their shared query has too many groups, each of their own has one.
    let few: Vec<String> = (0..12)
        .map(|host| {
            let query = json!({"event": "e", "tags": {"host": format!("h{host:02}")}});
            house.rule(&json!({"query": query, "condition": {"op": "gt", "threshold": 0}}))
        })
        .collect();
    for host in 0..12 {
        let event = json!({"name": "e", "tags": {"host": format!("h{host:02}")}});
        house.0.post("/api/v1/events", &event).data(201);
    }
    house.evaluate_after(0);
    assert!(house.error(&many).is_string());
    assert!(few.iter().all(|rule| house.error(rule).is_null()));
    assert_eq!(house.alerts("firing").len(), 12);
}

#[test]
fn one_rule_cannot_take_all_alerts() {
    let house = House::open();
    let rule = house.rule(&json!({"group_by": "tags.host"}));
    let max = crate::areas::alerting::limits::RULE_ALERTS_MAX;
    let points: Vec<Value> = (0..max + 2)
        .map(|host| json!({"name": "cpu", "type": "gauge", "value": 99, "tags": {"host": format!("{host:05}")}}))
        .collect();
    for points in points.chunks(500) {
        house.0.post("/api/v1/metrics/batch", &json!({"metrics": points}));
    }
    for _ in 0..2 {
        house.evaluate_after(0);
        let listed = house.0.get(&format!("{ALERTS}?limit=1"));
        assert_eq!(listed.body["meta"]["total"], max, "{}", listed.body);
        let error = house.error(&rule);
        assert!(error.as_str().is_some_and(|text| text.starts_with("2 more groups")), "{error}");
    }
}

#[test]
fn a_count_of_zero_fires_however_many_rules_are_alike() {
    let house = House::open();
    let mut rules = Vec::new();
    for count in 1..=5 {
        let query = json!({"event": "order.paid", "tags": {"shop": count.to_string()}});
        let condition = json!({"op": "lt", "threshold": 1});
        rules.push(house.rule(&json!({"query": query, "condition": condition})));
        house.evaluate_after(MINUTE_MS);
        assert_eq!(house.alerts("firing").len(), count, "of {count} rules");
    }
    assert_eq!(house.alerts("resolved").len(), 0);
    house.0.post("/api/v1/events", &json!({"name": "order.paid", "tags": {"shop": "3"}})).data(201);
    house.evaluate_after(1_000);
    assert_eq!(house.alerts("firing").len(), 4);
}

#[test]
fn counts_and_sums_that_may_be_incomplete_change_nothing() {
    let house = House::open();
    let rule = |op: &str, threshold: u32| {
        let condition = json!({"op": op, "threshold": threshold});
        house.rule(&json!({"query": {"event": "e"}, "condition": condition}))
    };
    rule("lt", 2);
    rule("gt", 1);
    for _ in 0..2 {
        house.0.post("/api/v1/events", &json!({"name": "e"})).data(201);
    }
    house.evaluate_after(0);
    assert_eq!(house.alerts("firing"), ["=2"], "what is above a threshold is certain");
    house.0.pass(2 * MINUTE_MS);
    house.app_restarted();
    house.evaluate_after(MINUTE_MS);
    assert_eq!(house.alerts("firing"), ["=2"], "the server did not run for long enough");
    house.evaluate_after(MINUTE_MS);
    assert_eq!(
        (house.alerts("firing"), house.alerts("resolved").len()),
        (vec!["=0".to_owned()], 1)
    );
}

#[test]
fn a_jump_of_the_clock_ends_no_alert() {
    let house = House::open();
    house.rule(&json!({"group_by": "tags.host"}));
    house.sample("a", 95.0);
    house.evaluate_after(2 * MINUTE_MS - 1);
    house.sample("a", 95.0);
    house.evaluate_after(0);
    assert_eq!(house.alerts("firing").len(), 1);
    let clock = house.0.app().clock().clone();
    clock.jump(telltale_engine::TimestampMs(clock.now().0 + 60 * MINUTE_MS));
    house.evaluate_after(0);
    assert_eq!(house.alerts("firing").len(), 1, "nothing could be received at this time");
    house.evaluate_after(MINUTE_MS);
    assert_eq!(house.alerts("firing").len(), 0);
}

#[test]
fn an_absence_that_was_noticed_before_a_restart_is_kept_for_another_day() {
    let house = House::open();
    house.sample("a", 1.0);
    house.rule(&json!({"condition": {"op": "absent"}, "group_by": "tags.host"}));
    house.evaluate_after(MINUTE_MS);
    house.evaluate_after(MINUTE_MS);
    assert_eq!(house.alerts("firing"), ["a=null"]);
    house.0.pass(3 * 24 * 60 * MINUTE_MS);
    // Forgets the groups that were known, as a restart does.
    let rule = house.0.get(RULES).data(200)[0]["id"].as_str().unwrap().to_owned();
    let change = json!({"name": "still the same"}).to_string();
    house.0.call(Method::PATCH, &format!("{RULES}/{rule}"), &[], &change).data(200);
    house.evaluate_after(0);
    assert_eq!(house.alerts("firing"), ["a=null"]);
}

#[test]
fn a_failed_look_up_of_known_groups_ends_no_alert() {
    let house = House(TestServer::with(Options { query_groups: 10, ..Options::default() }));
    let events = |hosts: std::ops::Range<u32>| {
        for host in hosts {
            let event = json!({"name": "e", "tags": {"host": format!("h{host:02}")}});
            house.0.post("/api/v1/events", &event).data(201);
        }
    };
    events(0..1);
    let query = json!({"event": "e"});
    let rule = house
        .rule(&json!({"query": query, "condition": {"op": "absent"}, "group_by": "tags.host"}));
    house.evaluate_after(0);
    house.evaluate_after(MINUTE_MS);
    assert_eq!(house.alerts("firing"), ["h00=null"]);
    events(1..9);
    house.0.pass(2 * MINUTE_MS);
    events(9..15);
    let change = json!({"name": "renamed"}).to_string();
    house.0.call(Method::PATCH, &format!("{RULES}/{rule}"), &[], &change).data(200);
    house.evaluate_after(1);
    assert!(house.error(&rule).is_string(), "more groups within a day than a query has");
    assert_eq!(house.alerts("firing"), ["h00=null"]);
}
