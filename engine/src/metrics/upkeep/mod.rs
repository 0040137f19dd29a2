//! What happens to points after they were written: sealed into blocks, merged, expired, deleted.
//!
//! Every step is one atomic write to disk followed by one change of the view. A crash between the two is a crash
//! before the change of the view: the next start reads what is on disk. Steps are done one at a time.

mod expire;
mod garbage;
mod retire_series;
mod seal;
mod seal_blocks;
mod sweep;
mod verify;
mod verify_rows;

#[cfg(test)]
mod replaced_tests;
#[cfg(test)]
mod retire_random_tests;
#[cfg(test)]
mod retire_tests;
#[cfg(test)]
mod sweep_tests;
#[cfg(test)]
mod tests;

pub(crate) use seal::FrozenMetrics;
pub(crate) use verify_rows::verify_rows;
