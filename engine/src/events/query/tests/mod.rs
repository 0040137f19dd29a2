//! What event queries promise their callers.

mod guarantees;
mod oracle;
mod random;
mod setup;
