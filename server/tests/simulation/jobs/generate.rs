//! Generates the steps on jobs from a seed.

use telltale_simulation::Random;

use super::steps::{NewJob, QUEUES, Step};
use crate::MINUTE;

/// Generates the steps of one history.
pub(crate) struct Generator {
    weights: Vec<u32>,
    next_name: u32,
    unique_percent: u64,
}

impl Generator {
    pub(crate) fn new(random: &mut Random) -> Self {
        // Weights of: enqueue, enqueue together, delete, register, heartbeat, deregister, fetch,
        // fetch and disconnect, await, ack, fail, extend, purge, pause, resume, retry dead, delete
        // dead, write history, trim, stall.
        let usual = [14, 5, 2, 4, 4, 1, 14, 2, 3, 9, 8, 1, 1, 1, 2, 3, 1, 1, 1, 2];
        let weights = usual.map(|weight| if random.percent(12) { 0 } else { weight });
        let weights = weights.map(|weight| if random.percent(12) { weight * 4 } else { weight });
        let mut weights = weights.to_vec();
        // Without jobs and workers nothing happens.
        for (at, least) in [(0, 6), (3, 2), (6, 6)] {
            weights[at] = weights[at].max(least);
        }
        Self { weights, next_name: 1, unique_percent: *random.pick(&[0, 15, 60]) }
    }

    pub(crate) fn step(&mut self, random: &mut Random) -> Step {
        let queue = random.index(QUEUES.len());
        let pick = random.number() >> 16;
        match random.weighted(&self.weights) {
            0 => Step::Enqueue(self.job(random)),
            1 => {
                let count = 1 + random.below(8);
                let jobs = (0..count).map(|_| self.job(random)).collect();
                let receipt = random.percent(70).then(|| u128::from(random.number()) | 1 << 100);
                Step::EnqueueAll(jobs, receipt)
            }
            2 => Step::Delete(pick),
            3 => Step::Register(queues(random)),
            4 => Step::Heartbeat(pick),
            5 => Step::Deregister(pick),
            6 => Step::Fetch { worker: pick, limit: 1 + random.below(4) as u32 },
            7 => Step::FetchAndGo { worker: pick, limit: 1 + random.below(3) as u32 },
            8 => Step::Await { worker: pick, new: NewJob { in_ms: 0, ..self.job(random) } },
            9 => Step::Ack { job: pick, stale: random.percent(15) },
            10 => Step::Fail { job: pick, stale: random.percent(15) },
            11 => Step::Extend { job: pick, seconds: 1 + random.below(300) as u32 },
            12 => Step::Purge(queue),
            13 => Step::Pause(queue),
            14 => Step::Resume(queue),
            15 => Step::RetryDead(pick),
            16 => Step::DeleteDead(pick),
            17 => Step::WriteHistory,
            18 => Step::Trim,
            _ => Step::Stall {
                worker: pick,
                ms: *random.pick(&[1_500, 5_000, 45_000, 20 * MINUTE.unsigned_abs()]),
            },
        }
    }

    fn job(&mut self, random: &mut Random) -> NewJob {
        let name = self.next_name;
        self.next_name += 1;
        let unique = random.percent(self.unique_percent).then(|| random.below(4) as u8);
        NewJob {
            name,
            queue: random.index(QUEUES.len()),
            in_ms: if random.percent(25) { random.range(1..90 * MINUTE) } else { 0 },
            max_attempts: 1 + random.below(3) as u16,
            unique,
            timeout_s: random.percent(30).then(|| 1 + random.below(200) as u32),
            bytes: *random.pick(&[0, 10, 300, 9_000]),
        }
    }
}

/// Returns some queues, in some order.
fn queues(random: &mut Random) -> Vec<usize> {
    let mut left: Vec<usize> = (0..QUEUES.len()).collect();
    let count = 1 + random.index(QUEUES.len());
    (0..count).map(|_| left.remove(random.index(left.len()))).collect()
}
