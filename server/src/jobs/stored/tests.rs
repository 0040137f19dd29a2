//! Tests of the format on disk.

use super::*;
use crate::jobs::model::JobId;

/// Checks that a record encodes to golden bytes of this version, and back.
#[track_caller]
fn check<'a, T>(record: &T, golden: &'a [u8])
where
    T: serde::Serialize + serde::Deserialize<'a> + PartialEq + std::fmt::Debug,
{
    assert_eq!(encode(record), golden, "{record:?}");
    assert_eq!(decode::<T>(golden).as_ref(), Ok(record));
}

fn job(status: StoredStatus) -> StoredJob {
    StoredJob {
        queue: 3,
        failures: 1,
        max_attempts: 25,
        timeout_seconds: 300,
        first_failed_ms: -1,
        unique: None,
        status,
    }
}

#[test]
fn a_job_has_these_bytes() {
    // version, queue, failures, max_attempts, timeout_seconds, first_failed_ms, unique
    let head = [1, 3, 1, 25, 0xac, 2, 1, 0];
    let with = |tail: &[u8]| [&head, tail].concat();
    check(&job(StoredStatus::Ready { since_ms: 1, order: -2 }), &with(&[0, 2, 3]));
    check(&job(StoredStatus::Scheduled { due_ms: 64 }), &with(&[1, 0x80, 1]));
    check(&job(StoredStatus::Retrying { due_ms: 1 }), &with(&[2, 2]));
    let running = StoredStatus::Running { worker: 5, token: 6, started_ms: 7, lease_ends_ms: 8 };
    check(&job(running), &with(&[3, 5, 6, 14, 16]));
    check(&job(StoredStatus::Completed { at_ms: 1, token: 9 }), &with(&[4, 2, 9]));
    let unique = StoredJob { unique: Some(128), ..job(StoredStatus::Retrying { due_ms: 1 }) };
    check(&unique, &[1, 3, 1, 25, 0xac, 2, 1, 1, 0x80, 1, 2, 2]);
}

#[test]
fn the_other_records_have_these_bytes() {
    check(
        &StoredBody { class: "A", arguments: "{}", enqueued_ms: 1 },
        &[1, 1, b'A', 2, b'{', b'}', 2],
    );
    let failure = StoredFailure {
        failed_ms: 1,
        error_class: "E".into(),
        message: "m".into(),
        backtrace: vec!["b".into()],
    };
    check(&failure, &[1, 2, 1, b'E', 1, b'm', 1, 1, b'b']);
    let queue = StoredQueue { name: "q".into(), paused_ms: Some(1) };
    check(&queue, &[1, 1, b'q', 1, 2]);
    let worker = StoredWorker {
        hostname: "h".into(),
        pid: Some(2),
        queues: vec![0, 1],
        concurrency: 3,
        status: 1,
        started_ms: 1,
        heard_ms: 2,
        processed: 4,
        failed: 5,
        busy_threads: None,
        memory_mb: Some(1.0),
        cpu_percent: None,
    };
    let bytes =
        [1, 1, b'h', 1, 2, 2, 0, 1, 3, 1, 2, 4, 4, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0];
    check(&worker, &bytes);
    let dead = StoredDead {
        job: 1,
        class: "A".into(),
        queue: 2,
        error_class: "E".into(),
        attempts: 3,
        max_attempts: 3,
        timeout_seconds: 0,
        first_failed_ms: 1,
        died_ms: 2,
    };
    check(&dead, &[1, 1, 1, b'A', 2, 1, b'E', 3, 3, 0, 2, 4]);
}

#[test]
fn records_that_follow_others_have_these_bytes() {
    let queue = StoredQueue { name: "q".into(), paused_ms: None };
    let deleted = StoredQueueDeleted { is_deleted: true };
    let golden = [1, 1, b'q', 0, 1];
    assert_eq!(encode_with(&queue, Some(&deleted)), golden);
    assert_eq!(decode_with(&golden), Ok((queue.clone(), Some(deleted))));
    // Earlier versions write records without a second one, and ignore it when reading.
    assert_eq!(encode_with(&queue, None::<&StoredQueueDeleted>), golden[..4]);
    assert_eq!(decode_with(&golden[..4]), Ok((queue.clone(), None::<StoredQueueDeleted>)));
    assert_eq!(decode::<StoredQueue>(&golden), Ok(queue));
    let unique = StoredDeadUnique { key: 128 };
    let body = StoredFailure {
        failed_ms: 1,
        error_class: "E".into(),
        message: String::new(),
        backtrace: Vec::new(),
    };
    let golden = [1, 2, 1, b'E', 0, 0, 0x80, 1];
    assert_eq!(encode_with(&body, Some(&unique)), golden);
    assert_eq!(decode_with(&golden), Ok((body, Some(unique))));
    let cut = decode_with::<StoredFailure, StoredDeadUnique>(&golden[..7]);
    assert!(matches!(cut, Err(Damage::Content(_))), "{cut:?}");
}

#[test]
fn failures_of_a_job_are_adjacent() {
    let id = JobId(1);
    let key = failure_key(id, 0x0102);
    assert_eq!(key[..16], id.key());
    assert_eq!(key[16..], [1, 2]);
    assert!(failure_key(id, 2) < failure_key(id, 256));
}

#[test]
fn invalid_records_are_reported_as_damage() {
    assert_eq!(decode::<StoredQueue>(&[]), Err(Damage::Version(None)));
    assert_eq!(decode::<StoredQueue>(&[2, 1, b'q', 0]), Err(Damage::Version(Some(2))));
    assert!(matches!(decode::<StoredQueue>(&[1, 9, b'q']), Err(Damage::Content(_))));
}
