//! Executes the steps of a history on the state and the model, and compares the results.

use super::*;
use crate::jobs::error::JobsError;

fn report() -> FailureReport {
    FailureReport::new("Boom", "it broke", vec!["here".to_owned()])
}

impl Pair {
    pub(super) fn act(&mut self, step: Step) {
        // Timers of both fire first.
        self.cycle(|_, _| ());
        self.model.tick();
        match step {
            Step::Enqueue { .. } => self.enqueue(step),
            Step::Delete(number) => self.delete(number),
            Step::Register { queues } => self.register(queues),
            Step::Heartbeat(number) => self.heartbeat(number),
            Step::Restrict(number, stop) => self.restrict(number, stop),
            Step::Deregister(number) => {
                let Some(id) = self.model.choose_worker(number) else { return };
                self.cycle(|state, cycle| state.deregister(id, cycle)).unwrap();
                self.model.deregister(id);
                let again = self.cycle(|state, cycle| state.deregister(id, cycle));
                assert!(matches!(again, Err(JobsError::WorkerNotFound(_))));
            }
            Step::Fetch { worker, limit } => self.fetch(worker, limit),
            Step::Ack { job, stale: true } => self.act_too_late(job),
            Step::Fail { job, stale: true } => self.act_too_late(job),
            Step::Ack { job, .. } => self.ack(job),
            Step::Fail { job, .. } => self.fail(job),
            Step::Extend { job, seconds } => {
                let Some(job) = self.model.choose_held(job) else { return };
                let token = Some(job.token);
                self.cycle(|state, cycle| state.extend(job.id, token, seconds, cycle)).unwrap();
                self.model.extend(job.id, seconds);
            }
            Step::GiveBack(number) => {
                let Some(job) = self.model.choose_held(number) else { return };
                self.cycle(|state, cycle| state.return_job(job.id, job.token, cycle));
                self.model.return_job(job.id);
            }
            Step::Pause(queue) => self.set_paused(queue, true),
            Step::Resume(queue) => self.set_paused(queue, false),
            Step::Purge(queue) => self.purge(queue),
            Step::Pass { .. } | Step::Jump { .. } | Step::Reload => unreachable!("not an act"),
        }
    }

    fn enqueue(&mut self, step: Step) {
        let Step::Enqueue { queue, in_ms, max_attempts, unique, timeout_s } = step else { return };
        let now_ms = self.clock.now().0;
        let id = JobId(self.ids.next_number());
        let job = NewJob {
            class: ClassName::new("Work").unwrap(),
            queue: QueueName::new(QUEUES[queue]).unwrap(),
            arguments: "{}".into(),
            run_at: Some(TimestampMs(now_ms + in_ms)),
            max_attempts,
            unique: unique.map(|key| UniqueKey::new(&key.to_string()).unwrap()),
            timeout_seconds: Some(timeout_s),
        };
        let draft = Draft::new(id, job, now_ms);
        let status = draft.status(now_ms);
        let outcome = self.cycle(|state, cycle| state.enqueue(draft, status, cycle));
        match unique.and_then(|key| self.model.holds_key(key)) {
            Some(holder) => {
                assert!(matches!(outcome, Err(JobsError::NotUnique(found)) if found == holder));
            }
            None => {
                outcome.unwrap();
                self.model.enqueue(id, queue, now_ms + in_ms, max_attempts, unique, timeout_s);
            }
        }
    }

    fn delete(&mut self, number: usize) {
        let Some(job) = self.model.choose(number) else { return };
        let outcome = self.cycle(|state, cycle| state.delete(job.id, cycle));
        match job.status {
            _ if job.is_gone() => assert!(matches!(outcome, Err(JobsError::JobNotFound(_)))),
            JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying => {
                outcome.unwrap();
                self.model.delete(job.id);
            }
            _ => assert!(matches!(outcome, Err(JobsError::NotDeletable(_)))),
        }
    }

    fn register(&mut self, queues: Vec<usize>) {
        let about = NewWorker {
            hostname: "host".into(),
            pid: Some(1),
            queues: queues.iter().map(|queue| QueueName::new(QUEUES[*queue]).unwrap()).collect(),
            concurrency: 2,
        };
        let id = self.cycle(|state, cycle| state.register(about, cycle)).unwrap().id;
        self.model.register(id, queues);
    }

    fn heartbeat(&mut self, number: usize) {
        let Some(id) = self.model.choose_worker(number) else { return };
        self.cycle(|state, cycle| state.heartbeat(id, WorkerUsage::default(), cycle)).unwrap();
        self.model.hear(id);
        let nobody =
            self.cycle(|state, cycle| state.heartbeat(WorkerId(1), WorkerUsage::default(), cycle));
        assert!(matches!(nobody, Err(JobsError::WorkerNotFound(_))));
    }

    fn restrict(&mut self, number: usize, stop: bool) {
        let Some(id) = self.model.choose_worker(number) else { return };
        let to = if stop { WorkerStatus::Stopping } else { WorkerStatus::Quiet };
        let (status, _) = self.cycle(|state, cycle| state.restrict(id, to, cycle)).unwrap();
        assert_eq!(status, self.model.restrict(id, to));
    }

    fn fetch(&mut self, worker: usize, limit: u32) {
        let Some(id) = self.model.choose_worker(worker) else { return };
        let grants = self.cycle(|state, cycle| state.reserve(id, limit, cycle)).unwrap();
        let expected = self.model.next_for(id, limit as usize);
        assert!(grants.iter().map(|grant| grant.id).eq(expected));
        for grant in grants {
            assert!(grant.token > self.last_token, "tokens only grow");
            self.last_token = grant.token;
            assert_eq!(grant.attempt, self.model.job(grant.id).failures + 1);
            self.model.grant(grant.id, id, grant.token);
        }
    }

    fn ack(&mut self, number: usize) {
        let Some(job) = self.model.choose_held(number) else { return };
        for _ in 0..2 {
            self.cycle(|state, cycle| state.ack(job.id, Some(job.token), cycle)).unwrap();
        }
        self.model.finish(job.id);
        let other = self.cycle(|state, cycle| state.ack(job.id, Some(job.token + 1), cycle));
        assert!(matches!(other, Err(JobsError::ReservationLost)));
    }

    fn fail(&mut self, number: usize) {
        let Some(job) = self.model.choose_held(number) else { return };
        let failed =
            self.cycle(|state, cycle| state.fail(job.id, Some(job.token), report(), cycle));
        assert_eq!(failed.unwrap().status, self.model.fail(job.id));
        let again = self.cycle(|state, cycle| state.fail(job.id, Some(job.token), report(), cycle));
        assert!(again.is_err());
    }

    /// A former holder of a job comes back late.
    fn act_too_late(&mut self, number: usize) {
        let Some(job) = self.model.choose(number) else { return };
        for token in job.stale.iter().copied().map(Some).chain([None]) {
            let acked = self.cycle(|state, cycle| state.ack(job.id, token, cycle));
            let failed = self.cycle(|state, cycle| state.fail(job.id, token, report(), cycle));
            let kept = self.cycle(|state, cycle| state.extend(job.id, token, 5, cycle));
            for outcome in [acked.err(), failed.err(), kept.err()] {
                let outcome = outcome.expect("it is refused");
                let is_right = match outcome {
                    JobsError::JobNotFound(_) => job.is_gone(),
                    JobsError::ReservationLost => !job.is_gone(),
                    _ => false,
                };
                assert!(is_right, "{outcome:?} of {job:?}");
            }
            if let Some(token) = token {
                self.cycle(|state, cycle| state.return_job(job.id, token, cycle));
            }
        }
    }

    fn set_paused(&mut self, queue: usize, paused: bool) {
        let was = self.model.is_paused(queue);
        let change = |state: &mut State, cycle: &mut Cycle| match paused {
            true => state.pause(QUEUES[queue], cycle),
            false => state.resume(QUEUES[queue], cycle),
        };
        match self.cycle(change) {
            Ok(_) => self.model.set_paused(queue, paused),
            Err(JobsError::QueueNotFound(_)) => assert!(!was),
            Err(JobsError::NotPaused) => assert!(!paused && !was),
            Err(other) => panic!("{other}"),
        }
    }

    fn purge(&mut self, queue: usize) {
        let to = JobId(self.ids.next_number());
        match self
            .cycle(|state, cycle| state.purge_step(QUEUES[queue], PurgeCursor::START, to, cycle))
        {
            Ok((removed, next)) => assert_eq!((removed, next), (self.model.purge(queue), None)),
            Err(error) => assert!(matches!(error, JobsError::QueueNotFound(_))),
        }
    }
}
