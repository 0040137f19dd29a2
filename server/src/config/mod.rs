//! The settings of the server: each declared once, read from four layers, with an origin for every
//! value.
//!
//! Flags override the environment (`TELLTALE_*`), which overrides the TOML file, which overrides
//! the defaults. An unknown key is an error in every layer, so that a typo never goes unnoticed.
//! Variables that Kubernetes sets for services are ignored. No other module reads the environment
//! or knows how settings are written.

mod engine;
mod kubernetes;
mod layers;
mod load;
mod memory;
mod print;
mod retention_override;
mod sections;
mod syntax;
#[cfg(test)]
mod tests;
mod variables;

pub use engine::{EventSettings, MetricSettings, RetentionSettings, StorageSettings};
pub use layers::{Environment, Flag, Sources};
pub use load::Loaded;
pub use memory::{MemoryPlan, MemorySettings};
pub use print::reference;
pub use retention_override::RetentionOverride;
pub use sections::{Config, ServerSettings};
