//! `telltale-server`: the HTTP service on top of `telltale-engine`, and the command line.

pub mod app;
pub mod area_states;
pub mod areas;
mod background;
pub mod cli;
pub mod config;
pub mod console;
pub mod http;
pub mod jobs;
pub mod limits;
mod own_metrics;
pub mod platform;
