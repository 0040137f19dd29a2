//! Tests of the guarantees of the document store.

mod promises;
mod racing;
mod setup;
