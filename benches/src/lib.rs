//! Shared parts of the benchmarks: realistic data, pictures and source files, and a server in this
//! process.

pub mod bench_server;
pub mod data;
pub mod events;
pub mod pages;
pub mod sources;
