//! A full disk: writes are refused, reads continue, and freed space is used without a restart.

use serde_json::{Value, json};
use telltale_tests::remote_write::{self, WriteRequest};
use telltale_tests::{Client, Server, Setup, SmallDisk, eventually, iso};

use crate::points::{T0, gauge, send, total};

/// The size of the disk: several times what an idle server needs.
const DISK_MEGABYTES: u64 = 192;
/// The reserve of the server in these tests.
const RESERVE: &str = "\"16MiB\"";
/// Less than the reserve, and enough to start.
const LITTLE_BYTES: u64 = 8 << 20;

/// Starts a server on a small disk; `None`, with a message, if this user may not mount one.
fn on_small_disk() -> Option<(SmallDisk, Server)> {
    let Some(disk) = SmallDisk::mount(DISK_MEGABYTES) else {
        skipped();
        return None;
    };
    let setup = Setup::new().data(&disk.path().join("data"));
    let server = setup.set("storage.disk_free_bytes", RESERVE).start();
    Some((disk, server))
}

#[expect(clippy::print_stderr, reason = "says why nothing was shown")]
fn skipped() {
    eprintln!("skipped: this user may not mount a file system");
}

fn one(i: i64) -> Value {
    json!({"name": "c", "type": "counter", "value": 1, "timestamp": iso(T0 + i)})
}

fn stored(client: &Client) -> f64 {
    total(client, "c", T0, T0 + 10)
}

/// Waits until a write is refused, which may take a moment.
fn writes_stop(client: &Client) {
    let refused = eventually("a write to be refused", || {
        let response = client.post("/api/v1/metrics", &gauge("probe", T0, 1.0));
        (response.status != 201).then_some(response)
    });
    refused.refused(503, "unavailable");
    client.post("/api/v1/metrics/batch", &json!({"metrics": [one(9)]})).refused(503, "unavailable");
    let written = remote_write::series(&[("__name__", "c")], &[(T0, 9.0)]);
    let request = WriteRequest { timeseries: vec![written], metadata: Vec::new() };
    // Agents repeat requests with this status only.
    let response =
        client.request("POST", "/api/v1/write").body(remote_write::packed(&request)).send();
    response.refused(503, "unavailable");
}

fn writes_go_on(client: &Client, i: i64) {
    eventually("writes to be taken again", || {
        let response = client.post("/api/v1/metrics", &one(i));
        (response.status == 201).then_some(())
    });
}

#[test]
fn a_full_disk_only_stops_writes() {
    let Some((disk, mut server)) = on_small_disk() else { return };
    let client = server.client();
    send(&client, &[one(0), one(1)]);
    let ballast = disk.fill(0);
    writes_stop(&client);
    assert_eq!(stored(&client), 2.0);
    client.get("/api/v1/metrics").data(200);
    assert!(std::fs::remove_file(ballast).is_ok());
    writes_go_on(&client, 2);
    assert_eq!(stored(&client), 3.0);
    server.kill9();
    server.restart();
    assert_eq!(stored(&server.client()), 3.0);
}

#[test]
fn a_server_that_starts_on_a_full_disk_serves_its_data() {
    let Some((disk, mut server)) = on_small_disk() else { return };
    send(&server.client(), &[one(0), one(1)]);
    let ballast = disk.fill(LITTLE_BYTES);
    writes_stop(&server.client());
    // Space for a start is reserved, and others use the rest to the last byte.
    let aside = server.data().join("BALLAST");
    eventually("room to be set aside", || aside.exists().then_some(()));
    let rest = disk.fill_rest();
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(stored(&client), 2.0);
    writes_stop(&client);
    assert!(std::fs::remove_file(ballast).is_ok() && std::fs::remove_file(rest).is_ok());
    writes_go_on(&client, 2);
    assert_eq!(stored(&client), 3.0);
    eventually("the room to be given back", || (!aside.exists()).then_some(()));
}
