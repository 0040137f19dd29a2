//! Tests of the guarantees of the document store.

mod concurrency;
mod guarantees;
mod setup;
