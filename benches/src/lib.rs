//! Shared parts of the benchmarks: realistic data and pictures, and a server in this process.

pub mod bench_server;
pub mod data;
pub mod events;
pub mod pages;
