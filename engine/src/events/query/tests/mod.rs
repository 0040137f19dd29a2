//! What users of event questions are promised.

mod oracle;
mod promises;
mod random;
mod setup;
