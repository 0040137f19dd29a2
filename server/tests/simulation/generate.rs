//! Generates a history from a seed.

use telltale_simulation::{Fault, FileKind, History, HistoryOf, Loss, Random};

use crate::driver::Driver;
use crate::setup::Setup;
use crate::steps::Step;
use crate::{DAY, HOUR, MINUTE, START, YEAR, errors, jobs};

/// Which ledgers a history exercises.
#[derive(Clone, Copy)]
enum About {
    Jobs,
    Errors,
    Both,
}

struct Generator {
    random: Random,
    about: About,
    /// Weights of: ledger steps, seals, compactions, time, checks, restarts, kills, power losses,
    /// clock jumps, clock corrections, expiry, faults.
    weights: Vec<u32>,
    jobs: jobs::Generator,
    errors: errors::Generator,
}

/// Returns the history of a seed.
pub(crate) fn history(seed: u64) -> HistoryOf<Driver> {
    let mut random = Random::new(seed);
    let setup = Setup::of(&mut random);
    let about =
        *random.pick(&[About::Jobs, About::Jobs, About::Errors, About::Errors, About::Both]);
    let usual = [3, 1, 8, 3, 2, 3, 4];
    let weights = usual.map(|weight| if random.percent(15) { 0 } else { weight });
    let faults = if random.percent(65) { 8 } else { 0 };
    let jumps = *random.pick(&[[0, 0, 0], [3, 3, 2], [8, 6, 4], [8, 1, 4]]);
    let weights = [60].into_iter().chain(weights).chain(jumps).chain([faults]).collect();
    let (jobs, errors) = (jobs::Generator::new(&mut random), errors::Generator::new(&mut random));
    let count = *random.pick(&[20, 40, 40, 80, 160]) + random.below(20);
    let mut generator = Generator { random, about, weights, jobs, errors };
    let steps = (0..count).map(|_| generator.step()).collect();
    History { seed, setup, steps }
}

impl Generator {
    fn step(&mut self) -> Step {
        match self.random.weighted(&self.weights) {
            0 => self.ledger_step(),
            1 => Step::Seal,
            2 => Step::Merge,
            3 => Step::Pass(self.pass()),
            4 => Step::Check,
            5 => Step::Reopen,
            6 => Step::Kill,
            7 => {
                let loss = *self.random.pick(&[Loss::Journal, Loss::Journal, Loss::Any]);
                Step::PowerLoss(loss, self.random.number())
            }
            8 => Step::Jump(self.jump()),
            9 => Step::SetRight,
            10 => Step::Expire,
            _ => {
                let kinds = [
                    FileKind::DbLog,
                    FileKind::DbLog,
                    FileKind::DbLog,
                    FileKind::Log,
                    FileKind::Table,
                ];
                Step::Arm(Fault::any(&mut self.random, &kinds, None))
            }
        }
    }

    fn ledger_step(&mut self) -> Step {
        let of_jobs = match self.about {
            About::Jobs => true,
            About::Errors => false,
            About::Both => self.random.percent(50),
        };
        if of_jobs {
            Step::Jobs(self.jobs.step(&mut self.random))
        } else {
            Step::Errors(self.errors.step(&mut self.random))
        }
    }

    /// Returns a jump of the clock, from the steps of NTP to wrong years, and back to 1970.
    fn jump(&mut self) -> i64 {
        let most = *self.random.pick(&[5_000, MINUTE, 3 * HOUR, 40 * DAY, 3 * YEAR, START]);
        let ms = self.random.range(most / 2..most);
        if most == START || self.random.percent(50) { -ms } else { ms }
    }

    fn pass(&mut self) -> i64 {
        match self.random.weighted(&[6, 5, 1]) {
            0 => self.random.range(1..5_000),
            1 => self.random.range(1..3 * MINUTE),
            _ => self.random.range(1..3 * HOUR),
        }
    }
}
