//! Maintenance of stored points: sealing into blocks, compaction, expiry, retirement of series,
//! deletion and verification.
//!
//! Every step is one atomic write to disk followed by one change of the view. After a crash between
//! the two, the next start reads the new state from disk. Steps run one at a time.

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
