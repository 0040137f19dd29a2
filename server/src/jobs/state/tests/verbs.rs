//! One step of a history, done to both, with the answers compared.

use super::*;
use crate::jobs::error::JobsError;

fn report() -> FailureReport {
    FailureReport::new("Boom", "it broke", vec!["here".to_owned()])
}

impl Pair {
    pub(super) fn act(&mut self, step: Step) {
        // Both let time do its work before anything else happens.
        self.round(|_, _| ());
        self.model.tick();
        match step {
            Step::Enqueue { .. } => self.enqueue(step),
            Step::Delete(number) => self.delete(number),
            Step::Register { queues } => self.register(queues),
            Step::Heartbeat(number) => self.heartbeat(number),
            Step::Restrict(number, stop) => self.restrict(number, stop),
            Step::Deregister(number) => {
                let Some(id) = self.model.choose_worker(number) else { return };
                self.round(|state, round| state.deregister(id, round)).unwrap();
                self.model.deregister(id);
                let again = self.round(|state, round| state.deregister(id, round));
                assert!(matches!(again, Err(JobsError::WorkerNotFound(_))));
            }
            Step::Fetch { worker, limit } => self.fetch(worker, limit),
            Step::Ack { job, stale: true } => self.come_late(job),
            Step::Fail { job, stale: true } => self.come_late(job),
            Step::Ack { job, .. } => self.ack(job),
            Step::Fail { job, .. } => self.fail(job),
            Step::Extend { job, seconds } => {
                let Some(job) = self.model.choose_held(job) else { return };
                let token = Some(job.token);
                self.round(|state, round| state.extend(job.id, token, seconds, round)).unwrap();
                self.model.extend(job.id, seconds);
            }
            Step::GiveBack(number) => {
                let Some(job) = self.model.choose_held(number) else { return };
                self.round(|state, round| state.give_back(job.id, job.token, round));
                self.model.give_back(job.id);
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
        let outcome = self.round(|state, round| state.enqueue(draft, status, round));
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
        let outcome = self.round(|state, round| state.delete(job.id, round));
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
        let id = self.round(|state, round| state.register(about, round)).unwrap().id;
        self.model.register(id, queues);
    }

    fn heartbeat(&mut self, number: usize) {
        let Some(id) = self.model.choose_worker(number) else { return };
        self.round(|state, round| state.heartbeat(id, Vitals::default(), round)).unwrap();
        self.model.hear(id);
        let nobody =
            self.round(|state, round| state.heartbeat(WorkerId(1), Vitals::default(), round));
        assert!(matches!(nobody, Err(JobsError::WorkerNotFound(_))));
    }

    fn restrict(&mut self, number: usize, stop: bool) {
        let Some(id) = self.model.choose_worker(number) else { return };
        let to = if stop { WorkerStatus::Stopping } else { WorkerStatus::Quiet };
        let (status, _) = self.round(|state, round| state.restrict(id, to, round)).unwrap();
        assert_eq!(status, self.model.restrict(id, to));
    }

    fn fetch(&mut self, worker: usize, limit: u32) {
        let Some(id) = self.model.choose_worker(worker) else { return };
        let grants = self.round(|state, round| state.reserve(id, limit, round)).unwrap();
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
            self.round(|state, round| state.ack(job.id, Some(job.token), round)).unwrap();
        }
        self.model.finish(job.id);
        let other = self.round(|state, round| state.ack(job.id, Some(job.token + 1), round));
        assert!(matches!(other, Err(JobsError::ReservationLost)));
    }

    fn fail(&mut self, number: usize) {
        let Some(job) = self.model.choose_held(number) else { return };
        let failed =
            self.round(|state, round| state.fail(job.id, Some(job.token), report(), round));
        assert_eq!(failed.unwrap().status, self.model.fail(job.id));
        let again = self.round(|state, round| state.fail(job.id, Some(job.token), report(), round));
        assert!(again.is_err());
    }

    /// Somebody who held a job once comes back.
    fn come_late(&mut self, number: usize) {
        let Some(job) = self.model.choose(number) else { return };
        for token in job.stale.iter().copied().map(Some).chain([None]) {
            let acked = self.round(|state, round| state.ack(job.id, token, round));
            let failed = self.round(|state, round| state.fail(job.id, token, report(), round));
            let kept = self.round(|state, round| state.extend(job.id, token, 5, round));
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
                self.round(|state, round| state.give_back(job.id, token, round));
            }
        }
    }

    fn set_paused(&mut self, queue: usize, paused: bool) {
        let was = self.model.is_paused(queue);
        let change = |state: &mut State, round: &mut Round| match paused {
            true => state.pause(QUEUES[queue], round),
            false => state.resume(QUEUES[queue], round),
        };
        match self.round(change) {
            Ok(_) => self.model.set_paused(queue, paused),
            Err(JobsError::QueueNotFound(_)) => assert!(!was),
            Err(JobsError::NotPaused) => assert!(!paused && !was),
            Err(other) => panic!("{other}"),
        }
    }

    fn purge(&mut self, queue: usize) {
        let to = JobId(self.ids.next_number());
        match self
            .round(|state, round| state.purge_step(QUEUES[queue], PurgePlace::START, to, round))
        {
            Ok((removed, next)) => assert_eq!((removed, next), (self.model.purge(queue), None)),
            Err(error) => assert!(matches!(error, JobsError::QueueNotFound(_))),
        }
    }
}
