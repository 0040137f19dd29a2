//! The settings of the server: one declaration each, four layers, an origin for every value.
//!
//! Flags win over the environment (`TELLTALE_*`), which wins over the TOML file, which wins over the defaults. A key
//! that nobody declared is an error wherever it stands, so that a typo never passes for a setting. Variables that Kubernetes
//! sets for services are passed over. Nothing
//! outside this folder reads the environment or knows how settings are written.

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
