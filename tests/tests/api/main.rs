//! What users are promised over HTTP and on the command line, shown on the real program.
//!
//! Each test has a server of its own. A test that shows what a route does, or what it refuses, says so with
//! `covers!`, and the contract test sees to it that no route is left out.

mod admin;
mod auth;
mod backup;
mod batch;
mod bodies;
mod bulk_parts;
mod cli;
mod compression;
mod connections;
mod damage;
mod dashboards;
mod dashboards_exchange;
mod dashboards_values;
mod definitions;
mod durability;
mod errors;
mod errors_groups;
mod errors_sdk;
mod errors_sentry;
mod events;
mod events_ingest;
mod events_list;
mod events_sums;
mod full_disk;
mod hostile;
mod idempotency;
mod import;
mod import_lines;
mod influx;
mod influx_clients;
mod ingest;
mod jobs;
mod jobs_dead;
mod jobs_faults;
mod jobs_queues;
mod jobs_workers;
mod keys;
mod limits;
mod log_stream;
mod nab;
mod operations;
mod otlp;
mod otlp_clients;
mod points;
mod prometheus;
mod query;
mod readme;
mod remote_write;
mod settings;
mod shapes;
mod sketches;
mod strangers;
mod telemetry;
