//! What users of documents are promised.

mod promises;
mod racing;
mod setup;
