//! Events, each batch with samples of a distribution in the same request: both are stored, or
//! neither.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, iso, now_ms};

use crate::pace::Run;
use crate::random::Random;
use crate::sender::Sender;
use crate::tally::{Kind, Tally};

/// Time between two batches.
const PERIOD: Duration = Duration::from_millis(500);
/// Events of a batch, and samples of the distribution.
const BATCH: u64 = 40;
/// The names of the events, and their users and regions.
const NAMES: [&str; 3] = ["soak.order", "soak.visit", "soak.login"];
const USERS: u64 = 500;
const REGIONS: [&str; 4] = ["eu", "us", "ap", "sa"];

/// What was sent.
#[derive(Debug)]
pub(crate) struct Events {
    /// The number of events and the sum of their values, by name.
    names: BTreeMap<&'static str, (u64, u64)>,
    latency: Tally,
    random: Random,
}

/// Sends until the run is over.
pub(crate) fn send(run: &Run, client: Client) -> Events {
    let mut sender = Sender::new(run, client, "events");
    let latency = Tally::new("soak.latency_ms", Kind::Distribution);
    let mut sent = Events { names: BTreeMap::new(), latency, random: Random::new(2) };
    let mut schedule = run.schedule("events", PERIOD);
    while schedule.wait() {
        let events: Vec<Value> = (0..BATCH).map(|_| sent.event()).collect();
        let metrics: Vec<Value> = (0..BATCH).map(|_| sent.value()).collect();
        let body = json!({"events": events, "metrics": metrics});
        let response = sender.send(|client, key| {
            let request = client.request("POST", "/api/v1/telemetry/batch");
            request.header("idempotency-key", key).json(&body).send()
        });
        let all = json!({"accepted": BATCH, "rejected": 0});
        assert_eq!(response.data(200), json!({"events": all, "metrics": all}));
        run.add_stored(2 * BATCH);
    }
    sent
}

impl Events {
    fn event(&mut self) -> Value {
        let name = self.one_of(&NAMES);
        let value = self.random.below(1_000);
        let (count, sum) = self.names.entry(name).or_default();
        (*count, *sum) = (*count + 1, *sum + value);
        let user = format!("user-{}", self.random.below(USERS));
        let properties = json!({"cart": {"items": self.random.below(9)}, "path": "/checkout"});
        json!({
            "name": name, "timestamp": iso(now_ms()), "user_id": user, "value": value,
            "properties": properties, "tags": {"region": self.one_of(&REGIONS)}
        })
    }

    fn value(&mut self) -> Value {
        let (time, value) = (now_ms(), 1 + self.random.below(2_000));
        self.latency.add(time, value);
        json!({
            "name": "soak.latency_ms", "type": "distribution", "value": value, "timestamp": iso(time),
            "tags": {"region": self.one_of(&REGIONS)}
        })
    }

    fn one_of(&mut self, strings: &[&'static str]) -> &'static str {
        strings[self.random.below(strings.len() as u64) as usize]
    }

    /// Fails unless the server has exactly these events and samples.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client, from_ms: i64, to_ms: i64) {
        self.latency.check(client);
        let range = format!("from={}&to={}", iso(from_ms), iso(to_ms));
        let path = format!("/api/v1/events/count?{range}&name=soak.*&group_by=name");
        let counts: BTreeMap<&str, u64> =
            self.names.iter().map(|(name, (count, _))| (*name, *count)).collect();
        let total: u64 = counts.values().sum();
        assert_eq!(client.get(&path).data(200), json!({"total": total, "groups": counts}));
        for (name, (count, sum)) in &self.names {
            let path = format!("/api/v1/events/stats?{range}&name={name}");
            let stats = client.get(&path).data(200);
            let found = (stats["count"].as_f64(), stats["sum"].as_f64());
            assert_eq!(found, (Some(*count as f64), Some(*sum as f64)), "{name}");
        }
    }
}
