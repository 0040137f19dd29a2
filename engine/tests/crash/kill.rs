//! SIGKILL at random moments, in the middle of writes, seals and compactions.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use telltale_engine::{Durability, Engine};

use super::batch::{PROCESSES, check, write_batch};
use super::{memory_dir, open, options};

/// Number of writers in the child process: each writes the batches of one process with cumulative
/// samples.
const WRITERS: u64 = PROCESSES;
const CHILD: &str = "TELLTALE_CRASH_CHILD";

/// Not a test by itself: the body of the child process until it is killed.
#[test]
fn child() {
    let Ok(dir) = std::env::var(CHILD) else { return };
    let (dir, first) = dir.split_once('|').unwrap();
    let durability =
        [Durability::Sync, Durability::Os, Durability::Interval(Duration::from_millis(5))];
    let first: u64 = first.parse().unwrap();
    let engine = Engine::open(Path::new(dir), options(durability[first as usize % 3])).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let engine = &engine;
            scope.spawn(move || {
                for id in (first + writer..).step_by(WRITERS as usize) {
                    match write_batch(engine, id) {
                        Ok(()) => {
                            let mut out = std::io::stdout().lock();
                            writeln!(out, "ack {id}").unwrap();
                            out.flush().unwrap();
                        }
                        Err(error) => {
                            println!("refused {error}");
                            std::thread::sleep(Duration::from_millis(1));
                        }
                    }
                }
            });
        }
        scope.spawn(|| {
            loop {
                engine.seal().unwrap();
                engine.merge().unwrap();
            }
        });
    });
}

fn spawn(dir: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{}|{first}", dir.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the batches that the child reported as acknowledged.
fn acks(output: &str) -> BTreeSet<u64> {
    // The test harness prints to the line of the first one.
    output.lines().filter_map(|l| l.split("ack ").nth(1)?.trim().parse().ok()).collect()
}

#[test]
fn nothing_acknowledged_is_lost_or_duplicated_by_sigkill() {
    let rounds =
        std::env::var("TELLTALE_CRASH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let dir = memory_dir();
    let (mut acked, mut next, mut last) = (BTreeSet::new(), 0, 0);
    // A fixed seed, so that a failure recurs at about the same moment.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..rounds {
        let mut child = spawn(dir.path(), next);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let wanted = random % 60;
        let (mut output, mut seen) = (String::new(), 0);
        // The kill follows some acknowledgements, in the middle of other work.
        while seen < wanted {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap() == 0 {
                break;
            }
            seen += u64::from(line.contains("ack "));
            output.push_str(&line);
        }
        std::thread::sleep(Duration::from_micros(random >> 16 & 0x3fff));
        child.kill().unwrap();
        child.wait().unwrap();
        lines.read_to_string(&mut output).unwrap();
        let new = acks(&output);
        last = last.max(new.last().copied().unwrap_or(0) + WRITERS * 2).max(next + WRITERS * 2);
        acked.extend(new);
        next = last + 1;
        if round % 10 == 9 || round + 1 == rounds {
            let engine = open(dir.path());
            assert_eq!(engine.damage(), [""; 0], "round {round}");
            check(&engine, &acked, last);
        }
    }
    assert!(acked.len() as u64 > rounds, "the child wrote: {} batches", acked.len());
    let engine = open(dir.path());
    let verified = engine.verify().unwrap();
    assert!(verified.damaged.is_empty(), "{:?}", verified.damaged);
}
