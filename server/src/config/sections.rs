//! All sections of the configuration, in the order of the reference.
//!
//! Each section is declared by the module that uses it; a new one needs a line here.

use std::net::SocketAddr;
use std::path::PathBuf;

use telltale_engine::Memory;

use super::engine::{EventSettings, MetricSettings, RetentionSettings, StorageSettings};
use super::memory::{MACHINE_BYTES_ASSUMED, MemoryPlan, MemorySettings};
use crate::areas::alerting::{EvaluationSettings, NotificationSettings, OptionalBaseUrl};
use crate::areas::bulk::OtlpSettings;
use crate::areas::dashboards::DashboardSettings;
use crate::areas::errors::ErrorSettings;
use crate::areas::repositories::{LlmSettings, RepositoriesSettings};
use crate::areas::snapshots::SnapshotSettings;
use crate::areas::status::StatusSettings;
use crate::console::ConsoleSettings;
use crate::http::{BodySettings, HttpSettings, Settings};
use crate::jobs::JobsSettings;
use crate::limits;
use crate::platform::log_settings::LogSettings;
use crate::platform::mail::SmtpSettings;
use crate::platform::outbound::OutboundSettings;
use crate::platform::quota::Quotas;
use crate::platform::sealing::SecretSettings;
use crate::platform::settings::{
    Auto, ByteSize, ConfigError, Period, Reader, Section, Setting, SettingsSection,
    settings_section,
};

settings_section! {
    /// Where the server listens and stores its data.
    #[derive(Clone, Debug, PartialEq)]
    "server" ServerSettings {
        /// The address and port to listen on. With port 0 the system chooses a free port; the log
        /// reports it.
        listen: SocketAddr = "127.0.0.1:8080", variable "TELLTALE_LISTEN", flag "--listen";
        /// The data directory. It is created if it does not exist.
        data: PathBuf = "./data", variable "TELLTALE_DATA", flag "--data";
        /// The URL under which users reach the server, such as `https://telltale.example.com`; links
        /// in notifications begin with it. Without it they have no links.
        public_url: OptionalBaseUrl = "";
        /// How long requests in progress may take to finish when the server is stopped.
        drain: Period = "30s";
    }
}

macro_rules! config {
    ($($(#[doc = $doc:literal])+ $name:ident: $Section:ty,)+) => {
        /// All settings, with types.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $Section,)+
            /// The memory plan derived from the settings and this machine.
            pub plan: MemoryPlan,
        }

        impl Config {
            /// Reads all sections. The plan is for a machine with `machine_bytes` of memory; the
            /// maxima that other modules enforce and that are `auto` are set from it.
            pub(super) fn read(
                reader: &mut Reader<'_>,
                machine_bytes: u64,
            ) -> Result<Self, ConfigError> {
                let mut config = Self {
                    $($name: <$Section>::read(reader)?,)+
                    plan: MemoryPlan::default(),
                };
                config.plan = MemoryPlan::of(&config, machine_bytes);
                config.derive_from_plan();
                Ok(config)
            }
        }

        /// The declarations, in the order of the reference.
        pub(super) const SECTIONS: &[Section] = &[$(<$Section>::DECLARATION),+];
    };
}

config! {
    /// Where the server listens and stores its data.
    server: ServerSettings,
    /// Requests per minute and key.
    limits: Quotas,
    /// Connections and requests.
    http: HttpSettings,
    /// The console.
    console: ConsoleSettings,
    /// Memory of the process.
    memory: MemorySettings,
    /// Request bodies.
    bodies: BodySettings,
    /// The engine.
    storage: StorageSettings,
    /// How long data is kept.
    retention: RetentionSettings,
    /// Metrics and their queries.
    metrics: MetricSettings,
    /// Event queries.
    events: EventSettings,
    /// Dashboards.
    dashboards: DashboardSettings,
    /// Jobs.
    jobs: JobsSettings,
    /// Error tracking.
    errors: ErrorSettings,
    /// OTLP.
    otlp: OtlpSettings,
    /// Requests that the server sends.
    outbound: OutboundSettings,
    /// Mail.
    smtp: SmtpSettings,
    /// Alert rules.
    alerting: EvaluationSettings,
    /// Notifications.
    notifications: NotificationSettings,
    /// Status pages.
    status: StatusSettings,
    /// Snapshots of pages.
    snapshots: SnapshotSettings,
    /// Repositories of source code.
    repositories: RepositoriesSettings,
    /// A language model.
    llm: LlmSettings,
    /// Secrets at rest.
    secrets: SecretSettings,
    /// The log.
    log: LogSettings,
}

impl Config {
    /// Sets what is `auto` and enforced by other modules.
    fn derive_from_plan(&mut self) {
        let bytes = |planned: u64| Auto::Set(ByteSize::at_least_one(planned));
        self.bodies.in_flight = bytes(self.plan.bodies);
        self.jobs.waiting_bytes_max = bytes(self.plan.jobs_waiting);
        self.errors.groups_max = Auto::Set(saturated(self.plan.error_groups));
    }

    /// Returns the maximum number of samples of a bulk body per write: fewer than configured if
    /// memory is small.
    pub fn bulk_write_points(&self) -> usize {
        let fitting = saturated(self.plan.limit / limits::MEMORY_BYTES_PER_BULK_POINT);
        let fitting = fitting.max(limits::BULK_WRITE_POINTS_MIN);
        self.bodies.bulk_write_points.min(fitting).min(limits::BULK_WRITE_POINTS_MAX)
    }

    /// Returns what the HTTP server is set up with.
    pub fn http_settings(&self, memory: &Memory) -> Settings {
        Settings {
            memory: memory.clone(),
            http: self.http,
            bodies: self.bodies,
            quotas: self.limits,
            drain: self.server.drain,
        }
    }
}

/// The defaults, on a machine whose memory is unknown.
impl Default for Config {
    fn default() -> Self {
        match Self::read(&mut Reader::of_defaults(), MACHINE_BYTES_ASSUMED) {
            Ok(config) => config,
            Err(error) => panic!("a section declares an invalid default: {error}"),
        }
    }
}

fn saturated(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Returns all settings, section by section.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}
