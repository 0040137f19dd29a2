//! What happens in a history: plain data, so that a failing history is printed, and shrunk by leaving steps out.

use telltale_simulation::{Fault, Loss};

use crate::{errors, jobs};

/// One step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Jobs(jobs::Step),
    Errors(errors::Step),
    /// The engine seals what is in memory.
    Seal,
    Merge,
    /// The engine deletes what is too old.
    Expire,
    /// Milliseconds pass.
    Pass(i64),
    /// The wall clock is set this many milliseconds ahead, or back.
    Jump(i64),
    /// The wall clock is set right.
    SetRight,
    /// Compares everything.
    Check,
    /// The service ends in order and begins again, with whatever fault is armed.
    Reopen,
    /// The process is killed.
    Kill,
    /// The machine loses its power.
    PowerLoss(Loss, u64),
    /// From now on a call fails.
    Arm(Fault),
}
