//! `telltale-engine`: an embeddable time-series engine.
//!
//! Stores samples in columnar blocks, rollups and sketches on RocksDB, behind a write-ahead log of
//! its own. Usable without the server:
//!
//! ```
//! use telltale_engine::{
//!     Aggregation, Engine, Interval, MetricName, MetricQuery, MetricType, Options, TimeRange,
//!     TimestampMs,
//! };
//! # let dir = tempfile::tempdir()?;
//! let engine = Engine::open(dir.path(), Options::default())?;
//! let mut batch = engine.batch();
//! let series = batch.series("cpu.load", MetricType::Gauge, &[("host", "web-1")])?;
//! for minute in 0..10 {
//!     batch.number(MetricType::Gauge, series, TimestampMs(minute * 60_000), 0.5 + minute as f64);
//! }
//! engine.write(batch.finish())?;
//! let result = engine.query(&MetricQuery {
//!     metric: MetricName::new("cpu.load")?,
//!     range: TimeRange::new(0, 600_000),
//!     interval: Interval::FIVE_MINUTES,
//!     aggregations: vec![Aggregation::Avg],
//!     filters: vec![],
//!     group_by: vec![],
//! })?;
//! assert_eq!(result.groups[0].columns[0], [2.5, 7.5]);
//! engine.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `ARCHITECTURE.md` at the root of the project describes the modules; `docs/FORMAT.md` specifies
//! every byte on disk.
#![warn(missing_docs)]

mod ballast;
mod brief;
mod cast;
mod clock;
mod codec;
mod damage;
mod dir_sync;
mod directory;
mod documents;
mod engine;
mod engine_inner;
mod error;
mod events;
mod files;
mod fingerprint;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod limits;
mod log;
mod maintenance;
mod memory;
mod metrics;
mod model;
mod options;
mod panics;
mod parallel;
mod query_in_progress;
mod records;
mod replay;
mod reports;
mod sketch;
mod startup;
mod stats;
mod storage;
mod telemetry;
mod trusted_time;

pub use brief::briefly;
pub use clock::Clock;
pub use documents::{Collection, Documents, Expect, Receipt, Transaction, Versioned};
pub use engine::{Engine, Write, Written};
pub use error::{Error, Refusal, Result};
pub use events::EventTailPage;
pub use files::{FileDigest, Files, InvalidDigest, PinnedFile};
pub use maintenance::BackupReport;
pub use memory::{Memory, MemoryFull, MemoryOwner, MemoryShare, ResultMemory};
pub use metrics::{
    BatchBuilder, CardinalityBy, CardinalityPage, CardinalityQuery, CardinalityRow,
    DefinitionFilter, DefinitionPage, KeyPartHash, MetricDefinition, SeriesKeyHash, TagValueFilter,
    TagValuePage,
};
pub use model::*;
pub use options::{Durability, Maintenance, Options, Retention, TIERS, TierRetention};
pub use query_in_progress::Cancellation;
pub use records::{RecordBatch, Records, Table};
pub use reports::{CompactionReport, DeleteReport, ExpireReport, FilesReport, VerifyReport};
pub use sketch::Distinct;
pub use stats::EngineStats;
pub use storage::{Direction, KeyRange};
pub use telemetry::SealReport;
pub use trusted_time::{ClockDeviation, TrustedTime};
