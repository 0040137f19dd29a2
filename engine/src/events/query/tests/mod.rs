//! What event queries promise their callers.

mod oracle;
mod promises;
mod random;
mod setup;
