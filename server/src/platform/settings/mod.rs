//! Settings: how a module declares those it uses, and how their values are read.
//!
//! The configuration of the server (`crate::config`) lists all sections and reads them.

mod auto;
mod error;
mod reader;
mod section;
mod units;
mod value;

pub use auto::{Auto, ThreadCount};
pub use error::{ConfigError, Origin};
pub use reader::{Effective, Layer, Reader};
pub use section::{Section, Setting, SettingsSection};
pub(crate) use section::{optional, settings_section};
pub use units::{ByteSize, Period};
pub(crate) use value::quoted;
pub use value::{FromZero, Raw, SettingValue, Words};
