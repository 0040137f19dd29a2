//! The Chromium process: found, started, and ended with everything it started.

mod executable;
mod flags;
mod group;
mod launch;
mod memory_guard;
mod preferences;
mod profile;
mod relatives;

pub(super) use executable::find_executable;
pub(super) use launch::BrowserProcess;
pub(super) use profile::delete_stale_profiles;
