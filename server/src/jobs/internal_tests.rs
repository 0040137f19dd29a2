//! Tests of the queues and workers of the server's own jobs, as users see them, and as earlier
//! versions left them.

use std::time::Duration;

use super::tests::{Fixture, job, open};
use super::*;
use crate::platform::ticks::Ticks;

fn own_job() -> NewJob {
    NewJob { queue: QueueName::own("telltale").unwrap(), ..job("Own") }
}

fn about(queues: &[&str]) -> NewWorker {
    NewWorker {
        hostname: "h".into(),
        pid: None,
        queues: queues.iter().map(|name| QueueName::own(name).unwrap()).collect(),
        concurrency: 1,
    }
}

impl Fixture {
    fn enqueue_own(&self) -> JobId {
        let drafted = self.jobs.draft(own_job());
        self.runtime.block_on(self.jobs.enqueue(drafted, None)).unwrap().id
    }
}

#[test]
fn users_cannot_act_for_the_workers_of_the_server() {
    let fixture = Fixture::open();
    let runtime = &fixture.runtime;
    let own = runtime.block_on(fixture.jobs.register(about(&["telltale"]))).unwrap().id;
    let id = fixture.enqueue_own();
    let users = || fixture.jobs.for_clients();
    let fetched = runtime.block_on(users().fetch(own, 1, Duration::ZERO));
    assert!(matches!(fetched, Err(JobsError::OwnWorker)), "{fetched:?}");
    let vitals = WorkerUsage::default();
    for refused in [
        runtime.block_on(users().heartbeat(own, vitals)).map(drop),
        runtime.block_on(users().restrict(own, WorkerStatus::Quiet)).map(drop),
        runtime.block_on(users().restrict(own, WorkerStatus::Stopping)).map(drop),
        runtime.block_on(users().deregister(own)),
    ] {
        assert!(matches!(refused, Err(JobsError::OwnWorker)), "{refused:?}");
    }
    assert_eq!(runtime.block_on(fixture.jobs.quiet_all()).unwrap(), 0);
    let held = fixture.fetch(own).remove(0);
    assert_eq!(held.id, id);
    // Tokens are numbers, and can be guessed.
    let token = Some(held.token);
    let report = FailureReport::new("E", "", Vec::new());
    for refused in [
        runtime.block_on(users().ack(id, token)),
        runtime.block_on(users().fail(id, token, report)).map(drop),
        runtime.block_on(users().extend(id, token, 1)).map(drop),
    ] {
        assert!(matches!(refused, Err(JobsError::ReservationLost)), "{refused:?}");
    }
    runtime.block_on(fixture.jobs.ack(id, token)).unwrap();
}

#[test]
fn pages_exclude_the_server_unless_all_is_requested() {
    let fixture = Fixture::open();
    let runtime = &fixture.runtime;
    runtime.block_on(fixture.jobs.register(about(&["telltale"]))).unwrap();
    let users = fixture.register();
    let names = |whose| -> Vec<String> {
        let page = runtime.block_on(fixture.jobs.queue_page(whose, 0, 10)).unwrap();
        assert_eq!(page.total, page.queues.len());
        page.queues.iter().map(|queue| queue.name.to_string()).collect()
    };
    assert_eq!(names(QueueOwner::Users), ["default"]);
    assert_eq!(names(QueueOwner::All), ["default", "telltale"]);
    let page = |whose, offset, limit| {
        runtime.block_on(fixture.jobs.worker_page(whose, offset, limit)).unwrap()
    };
    let of_users = page(QueueOwner::Users, 0, 10);
    assert_eq!((of_users.total, of_users.threads, of_users.busy_threads), (1, 1, 0));
    assert!(of_users.workers.iter().map(|worker| worker.id).eq([users]));
    let second = page(QueueOwner::All, 1, 10);
    assert_eq!((second.total, second.threads, second.workers.len()), (2, 2, 1));
}

#[test]
fn busy_threads_never_exceed_the_concurrency() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let vitals = WorkerUsage { busy_threads: Some(7), ..WorkerUsage::default() };
    fixture.runtime.block_on(fixture.jobs.heartbeat(worker, vitals)).unwrap();
    let shown = fixture.runtime.block_on(fixture.jobs.worker(worker)).unwrap();
    assert_eq!(shown.vitals.busy_threads, Some(1));
}

#[test]
fn changes_by_users_to_the_queues_of_the_server_end_at_a_start() {
    let fixture = Fixture::open();
    let runtime = &fixture.runtime;
    let own = runtime.block_on(fixture.jobs.register(about(&["telltale"]))).unwrap().id;
    let mixed =
        runtime.block_on(fixture.jobs.register(about(&["telltale", "default"]))).unwrap().id;
    runtime.block_on(fixture.jobs.restrict(own, WorkerStatus::Quiet)).unwrap();
    let id = fixture.enqueue_own();
    let paused = runtime.block_on(fixture.jobs.pause(QueueName::stored("telltale")));
    assert!(paused.is_ok(), "{paused:?}");
    let of_user = fixture.enqueue("A");
    fixture.jobs.close();
    let again = open(&fixture.engine, &fixture.clock, Ticks::system());
    let shown = runtime.block_on(again.queue(QueueName::stored("telltale"))).unwrap();
    assert_eq!((shown.paused_at, shown.ready), (None, 1));
    // The worker of a user still works the user's queue.
    let fetched = runtime.block_on(again.fetch(mixed, 10, Duration::ZERO)).unwrap().keep();
    assert!(fetched.iter().map(|held| held.id).eq([of_user]));
    let named = runtime.block_on(again.worker(mixed)).unwrap().about.queues;
    assert!(named.iter().map(|name| &**name).eq(["default"]));
    // The server registers a new worker at each start; the previous one stays quiet until it is
    // forgotten.
    let new = runtime.block_on(again.register(about(&["telltale"]))).unwrap().id;
    let fetched = runtime.block_on(again.fetch(new, 10, Duration::ZERO)).unwrap().keep();
    assert!(fetched.iter().map(|held| held.id).eq([id]));
}

#[test]
fn dead_jobs_of_the_server_are_found_only_if_all_is_requested() {
    let fixture = Fixture::open();
    let runtime = &fixture.runtime;
    let own = runtime.block_on(fixture.jobs.register(about(&["telltale"]))).unwrap().id;
    let drafted = fixture.jobs.draft(NewJob { max_attempts: 1, ..own_job() });
    let id = runtime.block_on(fixture.jobs.enqueue(drafted, None)).unwrap().id;
    let held = fixture.fetch(own).remove(0);
    let report = FailureReport::new("E", "", Vec::new());
    runtime.block_on(fixture.jobs.fail(id, Some(held.token), report)).unwrap();
    let total = |whose| {
        let filter = DeadFilter { whose, ..DeadFilter::default() };
        runtime.block_on(fixture.jobs.dead_jobs(filter, 0, 10)).unwrap().total
    };
    assert_eq!((total(QueueOwner::Users), total(QueueOwner::All)), (0, 1));
    let retry = |whose| {
        let named = Selection::Ids(vec![id.to_string()], whose);
        runtime.block_on(fixture.jobs.retry_all(named, None)).unwrap()
    };
    assert_eq!(retry(QueueOwner::Users), BulkCount { done: 0, failed: 1 });
    assert_eq!(retry(QueueOwner::All), BulkCount { done: 1, failed: 0 });
}
