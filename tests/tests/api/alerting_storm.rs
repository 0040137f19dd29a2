//! A thousand alerts at once, over two hundred channels, with receivers that hang beside them. The
//! test proves that each alert reaches its channel once; `make storm` runs it on the release build
//! and shows how long each took.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};
use telltale_tests::{Server, Setup, now_ms};

use crate::keys::text;

const ALERTS: usize = 1_000;
const CHANNELS: usize = 200;
const HANGING: usize = 40;

/// A message, and when it was received, in milliseconds since 1970.
type Message = (Value, i64);

/// Starts a receiver of webhooks. It answers at once, except to paths that begin with `/hang`, to
/// which it never answers. Returns its address, the messages, and how many requests to such paths
/// were given up.
fn receiver() -> std::io::Result<(String, Receiver<Message>, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let (sender, received) = channel();
    let given_up = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&given_up);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (sender, counted) = (sender.clone(), Arc::clone(&counted));
            // Ends with the connection.
            std::thread::spawn(move || serve(stream, &sender, &counted));
        }
    });
    Ok((address, received, given_up))
}

/// Receives the requests of a connection. `None` when it ends.
fn serve(mut stream: TcpStream, received: &Sender<Message>, given_up: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut length = 0;
        let mut path = String::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
            let line = line.trim_end().to_ascii_lowercase();
            if path.is_empty() {
                line.split(' ').nth(1)?.clone_into(&mut path);
            }
            if let Some(text) = line.strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        if path.starts_with("/hang") {
            // Until the other side gives up.
            reader.read_line(&mut String::new()).ok()?;
            given_up.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        received.send((serde_json::from_slice(&body).ok()?, now_ms())).ok()?;
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
    }
}

fn hook(server: &Server, url: &str) -> String {
    let config = json!({"webhook_url": url});
    let body = json!({"name": "hook", "channel_type": "webhook", "config": config});
    text(&server.client().post("/api/v1/channels", &body).data(201)["id"]).to_owned()
}

/// Creates a rule about one host.
fn rule(server: &Server, host: &str, channel: &str) {
    let query = json!({"metric": "cpu", "aggregation": "max", "tags": {"host": host}});
    let body = json!({
        "name": host,
        "query": query,
        "condition": {"op": "gt", "threshold": 90},
        "channel_ids": [channel],
    });
    server.client().post("/api/v1/alert_rules", &body).data(201);
}

fn fire(server: &Server, hosts: impl Iterator<Item = String>) {
    let sample =
        |host: String| json!({"name": "cpu", "type": "gauge", "value": 97, "tags": {"host": host}});
    let metrics: Vec<Value> = hosts.map(sample).collect();
    for some in metrics.chunks(500) {
        server.client().post("/api/v1/metrics/batch", &json!({"metrics": some})).expect(200);
    }
}

/// Returns how long each of the next messages took since its alert began, sorted, and the ids of
/// the alerts.
fn latencies(
    server: &Server,
    received: &Receiver<Message>,
    count: usize,
) -> (Vec<i64>, BTreeSet<String>) {
    let messages: Vec<Message> = received.iter().take(count).collect();
    let mut taken = Vec::new();
    let mut ids = BTreeSet::new();
    for (body, at) in messages {
        let alert = &body["data"]["alerts"][0];
        let path = format!("/api/v1/alerts/{}", text(&alert["id"]));
        let fired = text(&server.client().get(&path).data(200)["fired_at"]).to_owned();
        match chrono::DateTime::parse_from_rfc3339(&fired) {
            Ok(fired) => taken.push(at - fired.timestamp_millis()),
            Err(error) => panic!("{fired}: {error}"),
        }
        ids.insert(text(&alert["id"]).to_owned());
    }
    taken.sort_unstable();
    (taken, ids)
}

#[test]
fn a_storm_reaches_every_channel_and_hanging_receivers_delay_nobody() {
    let (address, received, given_up) = receiver().unwrap();
    let server = Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("alerting.evaluation_interval", "\"1s\"")
        .start();
    let channels: Vec<String> =
        (0..CHANNELS).map(|i| hook(&server, &format!("{address}/{i}"))).collect();
    for (i, channel) in (0..ALERTS).zip(channels.iter().cycle()) {
        rule(&server, &format!("h{i}"), channel);
    }
    fire(&server, (0..ALERTS).map(|i| format!("h{i}")));
    let (taken, ids) = latencies(&server, &received, ALERTS);
    assert_eq!(ids.len(), ALERTS, "each alert once");
    println!(
        "{ALERTS} alerts over {CHANNELS} channels: first after {} ms, median {} ms, last {} ms",
        taken[0],
        taken[ALERTS / 2],
        taken[ALERTS - 1],
    );
    for i in 0..HANGING {
        let channel = hook(&server, &format!("{address}/hang/{i}"));
        rule(&server, &format!("hanging{i}"), &channel);
    }
    rule(&server, "other", &channels[0]);
    fire(&server, (0..HANGING).map(|i| format!("hanging{i}")).chain(["other".to_owned()]));
    let (taken, _) = latencies(&server, &received, 1);
    // All are on one host, and the first request to each is still open.
    assert_eq!(given_up.load(Ordering::Relaxed), 0, "the message waited for those that hang");
    println!("beside {HANGING} receivers that hang: after {} ms", taken[0]);
    assert!(received.try_recv().is_err(), "nothing is sent twice");
}
