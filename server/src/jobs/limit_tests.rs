//! Panics of the ledger, limits on the jobs that wait, and clocks that are set.

use std::time::Duration;

use futures_util::FutureExt;
use telltale_engine::{Clock, Memory, MemoryOwner, Receipt, TimestampMs};

use super::tests::{House, NOW, job, large, open, open_with};
use super::*;
use crate::limits;
use crate::platform::ticks::Ticks;

fn of_queue(queue: &str, job: NewJob) -> NewJob {
    NewJob { queue: QueueName::own(queue).unwrap(), ..job }
}

#[test]
fn a_panic_of_the_ledger_fails_who_asked_and_costs_nobody_else_anything() {
    let house = House::timeless();
    let (kept, worker) = (house.enqueue("Work"), house.register());
    let waiting = house.jobs.fetch(worker, 1, Duration::from_secs(60));
    let mut panicked = Box::pin(
        house.jobs.enqueue_all(Vec::new(), |_| -> ((), Option<Receipt>) { panic!("as told") }),
    );
    let refused = house.runtime.block_on(&mut panicked);
    assert!(matches!(refused, Err(JobsError::Unavailable(_))), "{refused:?}");
    drop(waiting);
    let later = house.enqueue("Work");
    assert_eq!(house.jobs.figures().panics(), 1);
    let held: Vec<JobId> = house.fetch(worker).iter().map(|job| job.id).collect();
    assert_eq!(held, [kept, later]);
}

#[test]
fn a_ledger_that_panics_while_it_is_told_to_stop_ends() {
    let house = House::timeless();
    let gate = house.hold_up(house.full_round(), ());
    let panicked =
        house.jobs.enqueue_all(Vec::new(), |_| -> ((), Option<Receipt>) { panic!("as told") });
    let panicked = std::thread::scope(|scope| {
        let mut panicked = Box::pin(panicked);
        assert!((&mut panicked).now_or_never().is_none());
        let closing = scope.spawn(|| house.jobs.close());
        drop(gate);
        closing.join().unwrap();
        house.runtime.block_on(panicked)
    });
    assert!(matches!(panicked, Err(JobsError::Unavailable(_))), "{panicked:?}");
}

#[test]
fn too_many_jobs_of_a_queue_are_refused_and_those_there_are_go_on() {
    let settings = JobsSettings { queue_waiting_max: 2, ..JobsSettings::default() };
    let house = House::with_settings(|clock| Ticks::following(clock.clone()), settings);
    let worker = house.register();
    house.enqueue("Work");
    // Scheduled ones wait as well.
    let later = NewJob { run_at: Some(TimestampMs(NOW.0 + 60_000)), ..job("Work") };
    house.try_enqueue(later).unwrap();
    let full = house.try_enqueue(job("Work"));
    assert!(matches!(&full, Err(JobsError::QueueFull { max: 2, .. })), "{full:?}");
    house.try_enqueue(of_queue("other", job("Work"))).unwrap();
    assert_eq!((house.jobs.figures().waiting(), house.jobs.figures().refused()), (3, 1));
    // What is handed out makes room, and comes back above the limit.
    let held = house.fetch(worker);
    house.try_enqueue(job("Work")).unwrap();
    assert_eq!(house.fail(&held[0]).status, JobStatus::Retrying);
    assert!(house.try_enqueue(job("Work")).is_err());
    assert_eq!(house.jobs.figures().waiting(), 4);
    house.pass(100_000);
    assert_eq!(house.fetch(worker).len(), 3);
    // The same as the disk says.
    let again = open_with(&house.engine, &house.clock, Ticks::system(), settings);
    assert_eq!(again.figures().waiting(), 1);
}

#[test]
fn too_many_jobs_in_all_are_refused_but_for_a_few_of_our_own() {
    let settings = JobsSettings { waiting_max: 2, ..JobsSettings::default() };
    let house = House::with_settings(|clock| Ticks::following(clock.clone()), settings);
    for queue in ["a", "b"] {
        house.try_enqueue(of_queue(queue, job("Work"))).unwrap();
    }
    let full = house.try_enqueue(of_queue("c", job("Work")));
    assert!(matches!(&full, Err(JobsError::TooManyJobs { max: 2 })), "{full:?}");
    house.try_enqueue(of_queue("telltale", job("Work"))).unwrap();
    assert!(house.try_enqueue(of_queue("my-telltale", job("Work"))).is_err());

    let settings = JobsSettings {
        waiting_bytes_max: 3 * limits::WAITING_JOB_BYTES,
        ..JobsSettings::default()
    };
    let house = House::with_settings(|clock| Ticks::following(clock.clone()), settings);
    (0..3)
        .map(|_| house.enqueue("Work"))
        .for_each(|id| assert_eq!(house.status(id), JobStatus::Ready));
    assert!(matches!(house.try_enqueue(job("Work")), Err(JobsError::TooManyJobBytes { .. })));
}

#[test]
fn a_dead_job_is_not_brought_back_to_a_full_queue_and_stays_dead() {
    let settings = JobsSettings { queue_waiting_max: 1, ..JobsSettings::default() };
    let house = House::with_settings(|clock| Ticks::following(clock.clone()), settings);
    let worker = house.register();
    let dies = house.try_enqueue(NewJob { max_attempts: 1, ..job("Work") }).unwrap();
    assert_eq!(house.fail(&house.fetch(worker)[0]).status, JobStatus::Dead);
    let blocks = house.enqueue("Work");
    let full = house.runtime.block_on(house.jobs.retry(dies.to_string()));
    assert!(matches!(&full, Err(JobsError::QueueFull { .. })), "{full:?}");
    let all = Selection::Ids(vec![dies.to_string()], Whose::Users);
    assert_eq!(house.runtime.block_on(house.jobs.retry_all(all)).unwrap(), (0, 1));
    assert_eq!(house.status(dies), JobStatus::Dead);
    house.runtime.block_on(house.jobs.delete(blocks)).unwrap();
    house.runtime.block_on(house.jobs.retry(dies.to_string())).unwrap();
}

#[test]
fn a_clock_that_is_set_forgets_no_finished_and_no_dead_job_and_delays_no_retry() {
    let house = House::timeless();
    let worker = house.register();
    let done = house.enqueue("Work");
    let dies = house.try_enqueue(NewJob { max_attempts: 1, ..job("Work") }).unwrap();
    let fails = house.enqueue("Work");
    let held = house.fetch(worker);
    house.runtime.block_on(house.jobs.ack(done, Some(held[0].token))).unwrap();
    house.fail(&held[1]);
    house.fail(&held[2]);
    for years in [3_i64, -3] {
        house.clock.jump(TimestampMs(NOW.0 + years * 365 * 86_400_000));
        house.runtime.block_on(house.jobs.trim_dead()).unwrap();
        assert_eq!(house.status(done), JobStatus::Completed, "{years}");
        assert_eq!(house.status(dies), JobStatus::Dead, "{years}");
        assert_eq!(house.status(fails), JobStatus::Retrying, "{years}");
    }
    // The clock stays behind, and the delay is over all the same.
    house.clock.pass(Duration::from_secs(60));
    assert_eq!(house.fetch(worker).iter().map(|job| job.id).collect::<Vec<_>>(), [fails]);
}

#[test]
fn changes_of_many_jobs_meet_those_that_a_clock_ahead_has_named() {
    let house = House::timeless();
    house.clock.jump(TimestampMs(NOW.0 + 86_400_000));
    house.enqueue("Work");
    house.clock.jump(NOW);
    house.jobs.close();
    let again = open(&house.engine, &house.clock, Ticks::system());
    assert_eq!(house.runtime.block_on(again.purge("default".to_owned())).unwrap(), 1);
}

#[test]
fn a_lease_lasts_over_a_start_whichever_way_the_clock_is_set() {
    let settings =
        JobsSettings { lease_ms: 10_000, worker_silence_ms: 3_600_000, ..JobsSettings::default() };
    for years in [3_i64, -3] {
        let ticks = |clock: &Clock| Ticks::following(clock.clone());
        let house = House::with_settings(ticks, settings);
        let worker = house.register();
        let kept = house.enqueue("Work");
        let held = house.fetch(worker).remove(0);
        let lost = house.enqueue("Work");
        house.fetch(worker);
        house.clock.jump(TimestampMs(NOW.0 + years * 365 * 86_400_000));
        house.jobs.close();
        let again = open_with(&house.engine, &house.clock, ticks(&house.clock), settings);
        let status = |id| {
            // The first round after a long time takes nothing from anybody.
            house.runtime.block_on(again.queues()).unwrap();
            house.runtime.block_on(again.job(id)).unwrap().0.status
        };
        assert_eq!((status(kept), status(lost)), (JobStatus::Running, JobStatus::Running));
        house.clock.pass(Duration::from_secs(9));
        house.runtime.block_on(again.ack(kept, Some(held.token))).unwrap();
        assert_eq!(status(lost), JobStatus::Running, "{years}");
        house.clock.pass(Duration::from_secs(2));
        assert_eq!(status(lost), JobStatus::Ready, "{years}");
    }
}

#[test]
fn a_job_that_dies_while_the_clock_is_behind_is_kept_when_it_is_set_right() {
    let house = House::timeless();
    let worker = house.register();
    let dies = house.try_enqueue(NewJob { max_attempts: 1, ..job("Work") }).unwrap();
    let held = house.fetch(worker);
    house.clock.jump(TimestampMs(20_000));
    house.fail(&held[0]);
    house.clock.jump(NOW);
    assert_eq!(house.runtime.block_on(house.jobs.trim_dead()).unwrap(), 0);
    assert_eq!(house.status(dies), JobStatus::Dead);
}

#[test]
fn workers_fetch_also_where_memory_is_full() {
    let memory = Memory::new(1 << 30);
    let house = House::with_memory(
        |clock| Ticks::following(clock.clone()),
        JobsSettings::default(),
        memory.clone(),
    );
    let worker = house.register();
    memory.hold(MemoryOwner::Jobs, 2 << 30);
    assert!(house.fetch(worker).is_empty());
    let ids: Vec<JobId> =
        (0..40).map(|_| house.try_enqueue(large("default", 60 << 10)).unwrap()).collect();
    let mut fetched = Vec::new();
    // The first fetch gets what the reserve has for one; the rest went back, in its order.
    while fetched.len() < ids.len() {
        let some: Vec<JobId> = house.fetch(worker).iter().map(|job| job.id).collect();
        assert!(!some.is_empty() && some.len() <= 4, "{} jobs", some.len());
        fetched.extend(some);
    }
    assert_eq!(fetched, ids);
    let reserve = memory.take_to_drain(MemoryOwner::Answers, 8 << 20).unwrap();
    house.try_enqueue(job("Work")).unwrap();
    let refused = house.runtime.block_on(house.jobs.fetch(worker, 1, Duration::ZERO));
    assert!(matches!(refused, Err(JobsError::Engine(_))), "{refused:?}");
    drop(reserve);
    assert_eq!(house.fetch(worker).len(), 1, "it had gone back");
}
