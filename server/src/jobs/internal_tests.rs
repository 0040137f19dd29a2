//! The queues and workers of the server's own work, as users see them, and as earlier versions left them.

use std::time::Duration;

use super::tests::{House, job, open};
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

impl House {
    fn enqueue_own(&self) -> JobId {
        let drafted = self.jobs.draft(own_job());
        self.runtime.block_on(self.jobs.enqueue(drafted, None)).unwrap().id
    }
}

#[test]
fn users_cannot_speak_for_the_workers_of_the_server() {
    let house = House::open();
    let runtime = &house.runtime;
    let own = runtime.block_on(house.jobs.register(about(&["telltale"]))).unwrap().id;
    let id = house.enqueue_own();
    let users = || house.jobs.for_users();
    let fetched = runtime.block_on(users().fetch(own, 1, Duration::ZERO));
    assert!(matches!(fetched, Err(JobsError::OwnWorker)), "{fetched:?}");
    let vitals = Vitals::default();
    for refused in [
        runtime.block_on(users().heartbeat(own, vitals)).map(drop),
        runtime.block_on(users().restrict(own, WorkerStatus::Quiet)).map(drop),
        runtime.block_on(users().restrict(own, WorkerStatus::Stopping)).map(drop),
        runtime.block_on(users().deregister(own)),
    ] {
        assert!(matches!(refused, Err(JobsError::OwnWorker)), "{refused:?}");
    }
    assert_eq!(runtime.block_on(house.jobs.quiet_all()).unwrap(), 0);
    let held = house.fetch(own).remove(0);
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
    runtime.block_on(house.jobs.ack(id, token)).unwrap();
}

#[test]
fn pages_are_of_users_unless_all_is_asked_for() {
    let house = House::open();
    let runtime = &house.runtime;
    runtime.block_on(house.jobs.register(about(&["telltale"]))).unwrap();
    let users = house.register();
    let names = |whose| -> Vec<String> {
        let page = runtime.block_on(house.jobs.queue_page(whose, 0, 10)).unwrap();
        assert_eq!(page.total, page.queues.len());
        page.queues.iter().map(|queue| queue.name.to_string()).collect()
    };
    assert_eq!(names(Whose::Users), ["default"]);
    assert_eq!(names(Whose::All), ["default", "telltale"]);
    let page = |whose, offset, limit| {
        runtime.block_on(house.jobs.worker_page(whose, offset, limit)).unwrap()
    };
    let of_users = page(Whose::Users, 0, 10);
    assert_eq!((of_users.total, of_users.threads, of_users.busy_threads), (1, 1, 0));
    assert!(of_users.workers.iter().map(|worker| worker.id).eq([users]));
    let second = page(Whose::All, 1, 10);
    assert_eq!((second.total, second.threads, second.workers.len()), (2, 2, 1));
}

#[test]
fn threads_that_work_are_no_more_than_there_are() {
    let house = House::open();
    let worker = house.register();
    let vitals = Vitals { busy_threads: Some(7), ..Vitals::default() };
    house.runtime.block_on(house.jobs.heartbeat(worker, vitals)).unwrap();
    let shown = house.runtime.block_on(house.jobs.worker(worker)).unwrap();
    assert_eq!(shown.vitals.busy_threads, Some(1));
}

#[test]
fn what_users_did_to_the_queues_of_the_server_ends_with_a_start() {
    let house = House::open();
    let runtime = &house.runtime;
    let own = runtime.block_on(house.jobs.register(about(&["telltale"]))).unwrap().id;
    let mixed = runtime.block_on(house.jobs.register(about(&["telltale", "default"]))).unwrap().id;
    runtime.block_on(house.jobs.restrict(own, WorkerStatus::Quiet)).unwrap();
    let id = house.enqueue_own();
    let paused = runtime.block_on(house.jobs.pause("telltale".to_owned()));
    assert!(paused.is_ok(), "{paused:?}");
    let of_user = house.enqueue("A");
    house.jobs.close();
    let again = open(&house.engine, &house.clock, Ticks::system());
    let shown = runtime.block_on(again.queue("telltale".to_owned())).unwrap();
    assert_eq!((shown.paused_at, shown.ready), (None, 1));
    // The worker of a user works what is the user's.
    let fetched = runtime.block_on(again.fetch(mixed, 10, Duration::ZERO)).unwrap().keep();
    assert!(fetched.iter().map(|held| held.id).eq([of_user]));
    let named = runtime.block_on(again.worker(mixed)).unwrap().about.queues;
    assert!(named.iter().map(|name| &**name).eq(["default"]));
    // The server makes itself a worker at each start, and the one before stays quiet until it is forgotten.
    let new = runtime.block_on(again.register(about(&["telltale"]))).unwrap().id;
    let fetched = runtime.block_on(again.fetch(new, 10, Duration::ZERO)).unwrap().keep();
    assert!(fetched.iter().map(|held| held.id).eq([id]));
}

#[test]
fn dead_jobs_of_the_server_are_found_by_those_who_ask_for_them() {
    let house = House::open();
    let runtime = &house.runtime;
    let own = runtime.block_on(house.jobs.register(about(&["telltale"]))).unwrap().id;
    let drafted = house.jobs.draft(NewJob { max_attempts: 1, ..own_job() });
    let id = runtime.block_on(house.jobs.enqueue(drafted, None)).unwrap().id;
    let held = house.fetch(own).remove(0);
    let report = FailureReport::new("E", "", Vec::new());
    runtime.block_on(house.jobs.fail(id, Some(held.token), report)).unwrap();
    let total = |whose| {
        let filter = DeadFilter { whose, ..DeadFilter::default() };
        runtime.block_on(house.jobs.dead_jobs(filter, 0, 10)).unwrap().total
    };
    assert_eq!((total(Whose::Users), total(Whose::All)), (0, 1));
    let retry = |whose| {
        let named = Selection::Ids(vec![id.to_string()], whose);
        runtime.block_on(house.jobs.retry_all(named)).unwrap()
    };
    assert_eq!(retry(Whose::Users), (0, 1));
    assert_eq!(retry(Whose::All), (1, 0));
}
