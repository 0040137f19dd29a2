//! Tests of ledger panics, limits on waiting jobs, and wall clock changes.

use std::time::Duration;

use futures_util::FutureExt;
use telltale_engine::{Clock, Memory, MemoryOwner, Receipt, TimestampMs};

use super::tests::{Fixture, NOW, job, large, open, open_with};
use super::*;
use crate::limits;
use crate::platform::settings::{Auto, ByteSize, Period};
use crate::platform::ticks::Ticks;

fn of_queue(queue: &str, job: NewJob) -> NewJob {
    NewJob { queue: QueueName::own(queue).unwrap(), ..job }
}

#[test]
fn a_panic_of_the_ledger_fails_its_caller_and_loses_no_job() {
    let fixture = Fixture::with_manual_clocks();
    let (kept, worker) = (fixture.enqueue("Work"), fixture.register());
    let waiting = fixture.jobs.fetch(worker, 1, Duration::from_secs(60));
    let mut panicked = Box::pin(
        fixture.jobs.enqueue_all(Vec::new(), |_| -> ((), Option<Receipt>) { panic!("as planned") }),
    );
    let refused = fixture.runtime.block_on(&mut panicked);
    assert!(matches!(refused, Err(JobsError::Unavailable(_))), "{refused:?}");
    drop(waiting);
    let later = fixture.enqueue("Work");
    assert_eq!(fixture.jobs.figures().panics(), 1);
    let held: Vec<JobId> = fixture.fetch(worker).iter().map(|job| job.id).collect();
    assert_eq!(held, [kept, later]);
}

#[test]
fn a_ledger_that_panics_while_it_is_stopped_ends() {
    let fixture = Fixture::with_manual_clocks();
    let gate = fixture.block_ledger(fixture.full_cycle(), ());
    let panicked =
        fixture.jobs.enqueue_all(Vec::new(), |_| -> ((), Option<Receipt>) { panic!("as planned") });
    let panicked = std::thread::scope(|scope| {
        let mut panicked = Box::pin(panicked);
        assert!((&mut panicked).now_or_never().is_none());
        let closing = scope.spawn(|| fixture.jobs.close());
        drop(gate);
        closing.join().unwrap();
        fixture.runtime.block_on(panicked)
    });
    assert!(matches!(panicked, Err(JobsError::Unavailable(_))), "{panicked:?}");
}

#[test]
fn a_full_queue_refuses_new_jobs_and_its_jobs_go_on() {
    let settings = JobsSettings { queue_waiting_max: 2, ..JobsSettings::default() };
    let fixture = Fixture::with_settings(|clock| Ticks::following(clock.clone()), settings);
    let worker = fixture.register();
    fixture.enqueue("Work");
    // Scheduled jobs count as waiting, too.
    let later = NewJob { run_at: Some(TimestampMs(NOW.0 + 60_000)), ..job("Work") };
    fixture.try_enqueue(later).unwrap();
    let full = fixture.try_enqueue(job("Work"));
    assert!(matches!(&full, Err(JobsError::QueueFull { max: 2, .. })), "{full:?}");
    fixture.try_enqueue(of_queue("other", job("Work"))).unwrap();
    assert_eq!((fixture.jobs.figures().waiting(), fixture.jobs.figures().refused()), (3, 1));
    // A fetch frees capacity; a failed job returns to the queue despite the limit.
    let held = fixture.fetch(worker);
    fixture.try_enqueue(job("Work")).unwrap();
    assert_eq!(fixture.fail(&held[0]).status, JobStatus::Retrying);
    assert!(fixture.try_enqueue(job("Work")).is_err());
    assert_eq!(fixture.jobs.figures().waiting(), 4);
    fixture.pass(100_000);
    assert_eq!(fixture.fetch(worker).len(), 3);
    // The counts are the same after a reload.
    let again = open_with(&fixture.engine, &fixture.clock, Ticks::system(), settings);
    assert_eq!(again.figures().waiting(), 1);
}

#[test]
fn own_jobs_are_enqueued_up_to_the_first_that_is_refused() {
    let settings = JobsSettings { queue_waiting_max: 2, ..JobsSettings::default() };
    let fixture = Fixture::with_settings(|clock| Ticks::following(clock.clone()), settings);
    let enqueue = |keys: &[(&str, &str)]| {
        let draft = |(queue, key): &(&str, &str)| {
            let unique = Some(UniqueKey::new(key).unwrap());
            fixture.jobs.draft(of_queue(queue, NewJob { unique, ..job("Own") }))
        };
        let prefix = fixture.jobs.enqueue_own_blocking(keys.iter().map(draft).collect()).unwrap();
        let is_full = prefix.refused.as_ref().is_some_and(JobsError::is_full);
        assert_eq!(prefix.refused.is_some(), is_full, "{:?}", prefix.refused);
        (prefix.accepted, prefix.new, is_full)
    };
    // The last one would find space, and would be left out by who continues after the first two.
    let first = [("telltale", "a"), ("telltale", "b"), ("telltale", "c"), ("telltale-x", "d")];
    assert_eq!(enqueue(&first), (2, 2, true));
    assert_eq!(enqueue(&first), (2, 0, true), "the same two");
    assert_eq!(enqueue(&first[3..]), (1, 1, false));
    assert_eq!(fixture.jobs.figures().refused(), 2);
}

#[test]
fn jobs_beyond_the_total_limits_are_refused_except_for_a_few_of_the_server() {
    let settings = JobsSettings { waiting_max: 2, ..JobsSettings::default() };
    let fixture = Fixture::with_settings(|clock| Ticks::following(clock.clone()), settings);
    for queue in ["a", "b"] {
        fixture.try_enqueue(of_queue(queue, job("Work"))).unwrap();
    }
    let full = fixture.try_enqueue(of_queue("c", job("Work")));
    assert!(matches!(&full, Err(JobsError::TooManyJobs { max: 2 })), "{full:?}");
    fixture.try_enqueue(of_queue("telltale", job("Work"))).unwrap();
    assert!(fixture.try_enqueue(of_queue("my-telltale", job("Work"))).is_err());

    let settings = JobsSettings {
        waiting_bytes_max: Auto::Set(ByteSize::at_least_one(3 * limits::WAITING_JOB_BYTES as u64)),
        ..JobsSettings::default()
    };
    let fixture = Fixture::with_settings(|clock| Ticks::following(clock.clone()), settings);
    (0..3)
        .map(|_| fixture.enqueue("Work"))
        .for_each(|id| assert_eq!(fixture.status(id), JobStatus::Ready));
    assert!(matches!(fixture.try_enqueue(job("Work")), Err(JobsError::TooManyJobBytes { .. })));
}

#[test]
fn of_too_many_dead_jobs_the_oldest_of_the_server_is_deleted_first() {
    let settings = JobsSettings { dead_max: 2, ..JobsSettings::default() };
    let fixture = Fixture::with_settings(|clock| Ticks::following(clock.clone()), settings);
    let workers = ["default", "telltale"].map(|queue| (queue, fixture.register_for(queue)));
    let die = |(queue, worker): (&str, WorkerId)| {
        let mortal = NewJob { max_attempts: 1, ..job("Work") };
        let id = fixture.try_enqueue(of_queue(queue, mortal)).unwrap();
        assert_eq!(fixture.fail(&fixture.fetch(worker)[0]).status, JobStatus::Dead);
        id
    };
    let [of_user, of_server] = workers.map(die);
    let left = |whose| {
        let filter = DeadFilter { whose, ..DeadFilter::default() };
        let page = fixture.runtime.block_on(fixture.jobs.dead_jobs(filter, 0, 10)).unwrap();
        page.jobs.into_iter().map(|found| found.dead.job).collect::<Vec<_>>()
    };
    assert_eq!(left(QueueOwner::All), [of_server, of_user]);
    let newer = die(workers[1]);
    assert_eq!(left(QueueOwner::All), [newer, of_user]);
    // Without any of the server, the oldest.
    let [second, third] = [(); 2].map(|()| die(workers[0]));
    assert_eq!(left(QueueOwner::All), [third, second]);
}

#[test]
fn a_dead_job_cannot_be_retried_into_a_full_queue_and_stays_dead() {
    let settings = JobsSettings { queue_waiting_max: 1, ..JobsSettings::default() };
    let fixture = Fixture::with_settings(|clock| Ticks::following(clock.clone()), settings);
    let worker = fixture.register();
    let dies = fixture.try_enqueue(NewJob { max_attempts: 1, ..job("Work") }).unwrap();
    assert_eq!(fixture.fail(&fixture.fetch(worker)[0]).status, JobStatus::Dead);
    let blocks = fixture.enqueue("Work");
    let full = fixture.runtime.block_on(fixture.jobs.retry(DeadJobId::Job(dies)));
    assert!(matches!(&full, Err(JobsError::QueueFull { .. })), "{full:?}");
    let all = Selection::Ids(vec![dies.to_string()], QueueOwner::Users);
    let retried = fixture.runtime.block_on(fixture.jobs.retry_all(all, None)).unwrap();
    assert_eq!(retried, BulkCount { done: 0, failed: 1 });
    assert_eq!(fixture.status(dies), JobStatus::Dead);
    fixture.runtime.block_on(fixture.jobs.delete(blocks)).unwrap();
    fixture.runtime.block_on(fixture.jobs.retry(DeadJobId::Job(dies))).unwrap();
}

#[test]
fn wall_clock_jumps_forget_no_finished_or_dead_job_and_delay_no_retry() {
    let fixture = Fixture::with_manual_clocks();
    let worker = fixture.register();
    let done = fixture.enqueue("Work");
    let dies = fixture.try_enqueue(NewJob { max_attempts: 1, ..job("Work") }).unwrap();
    let fails = fixture.enqueue("Work");
    let held = fixture.fetch(worker);
    fixture.runtime.block_on(fixture.jobs.ack(done, Some(held[0].token))).unwrap();
    fixture.fail(&held[1]);
    fixture.fail(&held[2]);
    for years in [3_i64, -3] {
        fixture.clock.jump(TimestampMs(NOW.0 + years * 365 * 86_400_000));
        fixture.runtime.block_on(fixture.jobs.trim_dead()).unwrap();
        assert_eq!(fixture.status(done), JobStatus::Completed, "{years}");
        assert_eq!(fixture.status(dies), JobStatus::Dead, "{years}");
        assert_eq!(fixture.status(fails), JobStatus::Retrying, "{years}");
    }
    // The wall clock is still behind, yet the delay ends.
    fixture.clock.pass(Duration::from_secs(60));
    assert_eq!(fixture.fetch(worker).iter().map(|job| job.id).collect::<Vec<_>>(), [fails]);
}

#[test]
fn a_purge_includes_jobs_whose_ids_were_generated_while_the_clock_was_ahead() {
    let fixture = Fixture::with_manual_clocks();
    fixture.clock.jump(TimestampMs(NOW.0 + 86_400_000));
    fixture.enqueue("Work");
    fixture.clock.jump(NOW);
    fixture.jobs.close();
    let again = open(&fixture.engine, &fixture.clock, Ticks::system());
    assert_eq!(fixture.runtime.block_on(again.purge(QueueName::stored("default"))).unwrap(), 1);
}

#[test]
fn a_lease_survives_a_restart_whichever_way_the_clock_jumps() {
    let settings = JobsSettings {
        lease: Period::from(Duration::from_secs(10)),
        worker_silence: Period::from(Duration::from_secs(3_600)),
        ..JobsSettings::default()
    };
    for years in [3_i64, -3] {
        let ticks = |clock: &Clock| Ticks::following(clock.clone());
        let fixture = Fixture::with_settings(ticks, settings);
        let worker = fixture.register();
        let kept = fixture.enqueue("Work");
        let held = fixture.fetch(worker).remove(0);
        let lost = fixture.enqueue("Work");
        fixture.fetch(worker);
        fixture.clock.jump(TimestampMs(NOW.0 + years * 365 * 86_400_000));
        fixture.jobs.close();
        let again = open_with(&fixture.engine, &fixture.clock, ticks(&fixture.clock), settings);
        let status = |id| {
            // The first cycle after a long pause expires nothing.
            fixture.runtime.block_on(again.queues()).unwrap();
            fixture.runtime.block_on(again.job(id)).unwrap().0.status
        };
        assert_eq!((status(kept), status(lost)), (JobStatus::Running, JobStatus::Running));
        fixture.clock.pass(Duration::from_secs(9));
        fixture.runtime.block_on(again.ack(kept, Some(held.token))).unwrap();
        assert_eq!(status(lost), JobStatus::Running, "{years}");
        fixture.clock.pass(Duration::from_secs(2));
        assert_eq!(status(lost), JobStatus::Ready, "{years}");
    }
}

#[test]
fn a_job_that_dies_while_the_clock_is_behind_is_kept_when_the_clock_is_corrected() {
    let fixture = Fixture::with_manual_clocks();
    let worker = fixture.register();
    let dies = fixture.try_enqueue(NewJob { max_attempts: 1, ..job("Work") }).unwrap();
    let held = fixture.fetch(worker);
    fixture.clock.jump(TimestampMs(20_000));
    fixture.fail(&held[0]);
    fixture.clock.jump(NOW);
    assert_eq!(fixture.runtime.block_on(fixture.jobs.trim_dead()).unwrap(), 0);
    assert_eq!(fixture.status(dies), JobStatus::Dead);
}

#[test]
fn workers_can_fetch_while_memory_is_full() {
    let memory = Memory::new(1 << 30);
    let fixture = Fixture::with_memory(
        |clock| Ticks::following(clock.clone()),
        JobsSettings::default(),
        memory.clone(),
    );
    let worker = fixture.register();
    memory.hold(MemoryOwner::Jobs, 2 << 30);
    assert!(fixture.fetch(worker).is_empty());
    let ids: Vec<JobId> =
        (0..40).map(|_| fixture.try_enqueue(large("default", 60 << 10)).unwrap()).collect();
    let mut fetched = Vec::new();
    // Each fetch gets what fits into the reserve; the rest is returned in order.
    while fetched.len() < ids.len() {
        let some: Vec<JobId> = fixture.fetch(worker).iter().map(|job| job.id).collect();
        assert!(!some.is_empty() && some.len() <= 4, "{} jobs", some.len());
        fetched.extend(some);
    }
    assert_eq!(fetched, ids);
    let reserve = memory.take_from_reserve(MemoryOwner::Answers, 8 << 20).unwrap();
    fixture.try_enqueue(job("Work")).unwrap();
    let refused = fixture.runtime.block_on(fixture.jobs.fetch(worker, 1, Duration::ZERO));
    assert!(matches!(refused, Err(JobsError::Engine(_))), "{refused:?}");
    drop(reserve);
    assert_eq!(fixture.fetch(worker).len(), 1, "it was returned");
}
