//! A job worker as a process that can be killed at any time. It does what the arguments of its jobs
//! require, and prints a line for each result.
//!
//! ```text
//! jobs-worker <file with the address of the server> <queue,queue,…>
//! worker <id>                     registered
//! began <job> <attempt> <token>   fetched a job
//! acked <job> <attempt>           the server completed the job
//! failed <job> <status>           the server recorded the failed attempt
//! lost <job>                      the reservation was lost
//! left                            it was stopped, and has deregistered
//! ```
//!
//! Arguments of jobs: `hold` is the path of a file that the job waits for, `fail` the class of the
//! error with which it fails.

use std::error::Error;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, Response};

/// How long it waits for jobs, and between two attempts to reach a stopped server.
const WAIT_SECONDS: u64 = 2;
const PAUSE: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(queues)) = (arguments.next(), arguments.next()) else {
        return Err("jobs-worker <file with an address> <queues>".into());
    };
    let queues: Vec<&str> = queues.split(',').collect();
    let mut worker = Worker { address: address.into(), queues: json!(queues), id: String::new() };
    worker.register()?;
    while worker.beat()? {
        worker.work()?;
    }
    let path = format!("/api/v1/workers/{}", worker.id);
    worker.send("DELETE", &path, &json!({}))?;
    tell("left")
}

struct Worker {
    /// Read before each request: the server may have been restarted.
    address: PathBuf,
    queues: Value,
    id: String,
}

impl Worker {
    fn register(&mut self) -> Result<(), Box<dyn Error>> {
        let about = json!({
            "hostname": "test",
            "pid": std::process::id(),
            "queues": self.queues,
            "concurrency": 1,
        });
        let registered = self.send("POST", "/api/v1/workers", &about)?.expect(201);
        self.id = registered["id"].as_str().unwrap_or_default().to_owned();
        tell(&format!("worker {}", self.id))
    }

    /// Sends a heartbeat. Returns whether the worker may continue.
    fn beat(&mut self) -> Result<bool, Box<dyn Error>> {
        let path = format!("/api/v1/workers/{}/heartbeat", self.id);
        let response = self.send("POST", &path, &json!({"busy_threads": 0}))?;
        if response.status == 404 {
            self.register()?;
            return Ok(true);
        }
        Ok(response.expect(200)["status"] != "stopping")
    }

    fn work(&mut self) -> Result<(), Box<dyn Error>> {
        let path = format!("/api/v1/workers/{}/fetch", self.id);
        let response =
            self.send("POST", &path, &json!({"limit": 3, "wait_seconds": WAIT_SECONDS}))?;
        if response.status == 404 {
            return self.register();
        }
        for job in response.expect(200)["jobs"].as_array().into_iter().flatten() {
            self.run(job)?;
        }
        Ok(())
    }

    fn run(&self, job: &Value) -> Result<(), Box<dyn Error>> {
        let text = |key: &str| job[key].as_str().unwrap_or_default();
        let (id, token, attempt) = (text("job_id"), text("reservation_token"), &job["attempt"]);
        tell(&format!("began {id} {attempt} {token}"))?;
        if let Some(file) = job["arguments"]["hold"].as_str() {
            wait_for(Path::new(file));
        }
        let body = json!({"reservation_token": token, "error_class": job["arguments"]["fail"]});
        let verb = if body["error_class"].is_string() { "fail" } else { "ack" };
        let response = self.send("POST", &format!("/api/v1/jobs/{id}/{verb}"), &body)?;
        match (response.status, verb) {
            (200, "ack") => tell(&format!("acked {id} {attempt}")),
            (200, _) => tell(&format!("failed {id} {}", response.json()["status"])),
            (404 | 409, _) => tell(&format!("lost {id}")),
            _ => Err(response.summary().into()),
        }
    }

    /// Sends until there is an answer: a server that is killed comes back.
    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Response, Box<dyn Error>> {
        loop {
            let address = std::fs::read_to_string(&self.address)?;
            let client = Client::new(address.trim().parse()?, Some(ADMIN_KEY));
            match client.request(method, path).json(body).try_send() {
                Ok(response) if response.status != 503 => return Ok(response),
                Ok(_) | Err(_) => pause(),
            }
        }
    }
}

/// Nobody tells a process that a file has come.
fn wait_for(file: &Path) {
    while !file.exists() {
        pause();
    }
}

fn pause() {
    let (_nobody, never) = channel::<()>();
    let waited = never.recv_timeout(PAUSE);
    assert_eq!(waited, Err(RecvTimeoutError::Timeout), "the sender lives until the end");
}

fn tell(line: &str) -> Result<(), Box<dyn Error>> {
    let mut out = stdout();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
