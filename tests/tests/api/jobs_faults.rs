//! Real workers and a real server that are killed at any time: no job is lost, and none is
//! completed twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, SmallDisk, eventually, iso, now_ms};

use crate::jobs::{JOBS, enqueue};
use crate::keys::text;

/// A line that a worker printed, with the number of the worker.
type Line = (usize, String);

/// Workers that run as processes of their own.
struct Crew {
    address: PathBuf,
    queues: &'static str,
    workers: Vec<Child>,
    sender: Sender<Line>,
    receiver: Receiver<Line>,
}

impl Crew {
    fn new(server: &Server, queues: &'static str) -> Self {
        let (sender, receiver) = channel();
        let crew = Self {
            address: server.home().join("address"),
            queues,
            workers: Vec::new(),
            sender,
            receiver,
        };
        crew.point_at(server);
        crew
    }

    /// Writes the address of the server to the file that the workers read.
    fn point_at(&self, server: &Server) {
        // Atomically: a worker must not read a part of it.
        let new = self.address.with_extension("new");
        let written = std::fs::write(&new, server.address().to_string());
        let placed = written.and_then(|()| std::fs::rename(new, &self.address));
        assert!(placed.is_ok(), "{placed:?}");
    }

    /// Starts another worker and returns its number.
    fn hire(&mut self) -> usize {
        let child = Command::new(env!("CARGO_BIN_EXE_jobs-worker"))
            .arg(&self.address)
            .arg(self.queues)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else { panic!("the worker does not start") };
        let Some(out) = child.stdout.take() else { panic!("it was to be read") };
        let (number, sender) = (self.workers.len(), self.sender.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                // The receiver is gone if the test has failed.
                drop(sender.send((number, line)));
            }
        });
        self.workers.push(child);
        number
    }

    fn kill9(&mut self, number: usize) {
        let killed = self.workers[number].kill().and_then(|()| self.workers[number].wait());
        assert!(killed.is_ok(), "{killed:?}");
    }

    /// Waits until a worker prints a line with this prefix, and returns the words after it.
    #[track_caller]
    fn hear(&self, number: usize, beginning: &str) -> Vec<String> {
        loop {
            let Ok((who, line)) = self.receiver.recv_timeout(Duration::from_secs(60)) else {
                panic!("worker {number} never told {beginning:?}");
            };
            if let Some(rest) = line.strip_prefix(beginning).filter(|_| who == number) {
                return rest.split_whitespace().map(str::to_owned).collect();
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // It may have ended already.
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}

fn quick() -> Setup {
    Setup::new()
        .set("jobs.worker_silence", "\"3s\"")
        .set("jobs.retry_base_seconds", "1")
        .set("jobs.retry_jitter_seconds", "1")
}

#[test]
fn the_job_of_a_killed_worker_is_reassigned() {
    let server = quick().start();
    let client = server.client();
    let mut crew = Crew::new(&server, "default");
    let gate = server.home().join("gate");
    let body = json!({"class_name": "Slow", "arguments": {"hold": gate}});
    let id = enqueue(&client, &body);
    let first = crew.hire();
    let began = crew.hear(first, "began ");
    assert_eq!(began[..2], [id.clone(), "1".to_owned()]);
    crew.kill9(first);
    std::fs::write(&gate, "").unwrap();
    let second = crew.hire();
    assert_eq!(crew.hear(second, "acked "), [id.clone(), "2".to_owned()]);
    let late = json!({"reservation_token": began[2]});
    client.post(&format!("{JOBS}/{id}/ack"), &late).refused(409, "reservation_lost");
    let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
    assert_eq!(
        (&shown["status"], &shown["failures"][0]["error_class"]),
        (&json!("completed"), &json!("WorkerLost"))
    );
}

#[test]
fn a_worker_that_is_stopped_finishes_its_job_and_deregisters() {
    let server = quick().start();
    let client = server.client();
    let mut crew = Crew::new(&server, "default");
    let gate = server.home().join("gate");
    let held = enqueue(&client, &json!({"class_name": "Slow", "arguments": {"hold": gate}}));
    let worker = crew.hire();
    let id = crew.hear(worker, "worker ").remove(0);
    crew.hear(worker, "began ");
    let path = format!("/api/v1/workers/{id}");
    client.post(&format!("{path}/quiet"), &json!({})).expect(200);
    let waiting = enqueue(&client, &json!({"class_name": "Next"}));
    client.post(&format!("{path}/stop"), &json!({})).expect(200);
    client.post(&format!("{path}/quiet"), &json!({})).expect(200);
    std::fs::write(&gate, "").unwrap();
    assert_eq!(crew.hear(worker, "acked ")[0], held);
    crew.hear(worker, "left");
    client.get(&path).refused(404, "worker_not_found");
    assert_eq!(client.get(&format!("{JOBS}/{waiting}")).expect(200)["status"], "ready");
}

#[test]
fn jobs_are_readable_while_the_disk_is_full_and_continue_afterwards() {
    let Some(disk) = SmallDisk::mount(192) else { return };
    let setup = Setup::new().data(&disk.path().join("data"));
    let server = setup.set("storage.disk_free_bytes", "\"16MiB\"").start();
    let client = server.client();
    let due_ms = now_ms() + 5_000;
    let soon = json!({"class_name": "Soon", "run_at": iso(due_ms), "queue": "full"});
    let id = enqueue(&client, &soon);
    let worker = crate::jobs::register(&client, &["other"]);
    let ballast = disk.fill(0);
    eventually("nothing to be written any more", || {
        let about = json!({"hostname": "h".repeat(255), "queues": ["other"]});
        (0..200).any(|_| client.post("/api/v1/workers", &about).status == 503).then_some(())
    });
    // It becomes due, which cannot be written.
    while now_ms() < due_ms + 2_000 {
        assert_eq!(client.get(&format!("{JOBS}/{id}")).expect(200)["status"], "scheduled");
        client.get("/api/v1/queues").expect(200);
        client.get(&worker).expect(200);
    }
    assert!(std::fs::remove_file(ballast).is_ok());
    eventually("the job to be ready", || {
        let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
        (shown["status"] == "ready").then_some(())
    });
}

/// The number of jobs and of workers.
const JOBS_ALL: usize = 10_000;
const WORKERS: usize = 20;
const QUEUES: [&str; 3] = ["one", "two", "three"];

#[test]
fn twenty_killed_workers_and_a_killed_server_lose_none_of_ten_thousand_jobs() {
    let mut server = quick().set("jobs.finished_max", "1_000_000").start();
    let ids = fill(&server.client());
    let mut crew = Crew::new(&server, "one,two,three");
    let mut alive: Vec<usize> = (0..WORKERS).map(|_| crew.hire()).collect();
    let mut acked: BTreeMap<String, usize> = BTreeMap::new();
    let (mut heard, mut kills) = (0_usize, 0_usize);
    while acked.len() < ids.len() {
        let Ok((_, line)) = crew.receiver.recv_timeout(Duration::from_secs(30)) else {
            if finished(&server.client()) {
                break;
            }
            continue;
        };
        if let Some(rest) = line.strip_prefix("acked ") {
            let id = rest.split(' ').next().unwrap_or_default();
            *acked.entry(id.to_owned()).or_default() += 1;
        }
        heard += 1;
        // Workers are killed often, the server less often, at any point of their work.
        if heard.is_multiple_of(800) && kills < 20 {
            kills += 1;
            let victim = alive.remove(kills % alive.len());
            crew.kill9(victim);
            alive.push(crew.hire());
            if kills.is_multiple_of(6) {
                server.restart();
                crew.point_at(&server);
            }
        }
    }
    assert!(kills >= 18, "there were only {kills} kills");
    let twice: Vec<_> = acked.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "finished twice: {twice:?}");
    let client = server.client();
    eventually("all queues to be empty", || finished(&client).then_some(()));
    // A worker that was killed between the response and its output has completed the job
    // nevertheless.
    let unheard: BTreeSet<&String> = ids.iter().filter(|id| !acked.contains_key(*id)).collect();
    for id in unheard {
        let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
        assert_eq!(shown["status"], "completed", "{shown}");
    }
    assert_eq!(client.get("/api/v1/dead-jobs").expect(200)["total"], 0);
}

/// Enqueues all jobs in batches, over three queues.
fn fill(client: &Client) -> Vec<String> {
    let mut ids = Vec::new();
    for batch in 0..JOBS_ALL / 1_000 {
        // A job whose response was lost in a kill of the server is retried after its lease: its
        // worker is alive and does not know about it.
        let job = |n: usize| {
            let queue = QUEUES[n % 3];
            json!({"class_name": "Work", "queue": queue, "arguments": {"n": n}, "timeout_seconds": 10})
        };
        let jobs: Vec<Value> = (0..1_000).map(|n| job(batch * 1_000 + n)).collect();
        let made = client.post(&format!("{JOBS}/batch"), &json!({ "jobs": jobs })).expect(201);
        ids.extend(made["job_ids"].as_array().into_iter().flatten().map(|id| text(id).to_owned()));
    }
    ids
}

/// Returns whether no job is waiting or running.
fn finished(client: &Client) -> bool {
    QUEUES.iter().all(|queue| {
        let shown = client.get(&format!("/api/v1/queues/{queue}")).expect(200);
        ["size", "running", "retrying", "scheduled"].iter().all(|field| shown[*field] == 0)
    })
}
