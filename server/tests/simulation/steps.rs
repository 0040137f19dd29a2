//! The steps of a history: plain data, so that a failing history can be printed, and shrunk by
//! removing steps.

use telltale_simulation::{Fault, Loss};

use crate::{errors, jobs};

/// A step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Jobs(jobs::Step),
    Errors(errors::Step),
    /// Seals the head of the engine.
    Seal,
    Merge,
    /// Expires old data of the engine.
    Expire,
    /// Advances all clocks by milliseconds.
    Pass(i64),
    /// Changes the wall clock by milliseconds.
    Jump(i64),
    /// Corrects the wall clock.
    SetRight,
    /// Compares everything.
    Check,
    /// Shuts the service down in order and opens it again, with any armed fault.
    Reopen,
    /// Kills the process.
    Kill,
    /// Cuts the power of the machine.
    PowerLoss(Loss, u64),
    /// Arms a fault: a later system call fails.
    Arm(Fault),
}
