//! The settings of the server: each declared once, read from four layers, with an origin for every
//! value.
//!
//! Flags override the environment (`TELLTALE_*`), which overrides the TOML file, which overrides
//! the defaults. An unknown key is an error in every layer, so that a typo never goes unnoticed.
//! Variables that Kubernetes sets for services are ignored. No other module reads the environment
//! or knows how settings are written.

mod auto;
mod error;
mod kubernetes;
mod layers;
mod load;
mod memory;
mod network;
mod print;
mod settings;
mod syntax;
#[cfg(test)]
mod tests;
mod units;
mod value;

pub use auto::{Auto, ThreadCount};
pub use error::{ConfigError, Origin};
pub use layers::{Environment, Flag, Sources};
pub use load::{Effective, Loaded};
pub use memory::MemoryPlan;
pub use network::Cidr;
pub use print::reference;
pub use settings::{
    AttributeNames, Bodies, Config, Errors, Http, Jobs, Limits, Log, MemorySettings, Metrics, Otlp,
    Outbound, OutboundRanges, Overrides, Server, Storage, StorageRetention, Words,
};
pub use units::{ByteSize, Period};
pub use value::{Directives, LogFormat, RetentionOverride};
