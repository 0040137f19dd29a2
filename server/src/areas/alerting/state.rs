//! What the area keeps in memory, and what it uses to send notifications.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::channels::{self, BaseUrl, ChannelCounters, NotificationSettings, OptionalBaseUrl};
use super::delivery::SlowReceivers;
use super::documents::DocumentLock;
use super::error::AlertingError;
use super::evaluation::{EvaluationSettings, EvaluationStatus};
use super::ledger::{AlertLedger, CurrentDirectory, Directory};
use super::limits;
use super::received::ReceivedAlerts;
use crate::app::App;
use crate::areas::AreaParts;
use crate::platform::mail::{MailSetupError, Mailer};
use crate::platform::outbound::{OutboundClient, OutboundPolicy};
use crate::platform::sealing::SecretStore;

/// The state of alerting.
#[derive(Debug)]
pub struct Alerting {
    documents: DocumentLock,
    secrets: Arc<SecretStore>,
    client: OutboundClient,
    mailer: Option<Mailer>,
    settings: NotificationSettings,
    public_url: OptionalBaseUrl,
    counters: ChannelCounters,
    ledger: AlertLedger,
    directory: CurrentDirectory,
    evaluation: EvaluationStatus,
    slow_receivers: SlowReceivers,
    /// Held by tests of channels: hanging receivers must not take the requests of notifications.
    tests: Semaphore,
    received: ReceivedAlerts,
    rules: EvaluationSettings,
}

/// Why alerting cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum AlertingSetupError {
    /// The settings of the mail server are refused.
    #[error(transparent)]
    Mail(#[from] MailSetupError),
    /// TLS cannot be set up.
    #[error("cannot set up TLS for outbound requests: {0}")]
    Tls(#[from] std::io::Error),
    /// The alerts cannot be read.
    #[error("cannot read the alerts: {0}")]
    Alerts(#[from] telltale_engine::Error),
}

impl Alerting {
    /// Loads the alerts, and sets up what sends notifications. Blocks.
    pub fn open(
        parts: AreaParts<'_>,
        rules: &EvaluationSettings,
        notifications: &NotificationSettings,
    ) -> Result<Self, AlertingSetupError> {
        let AreaParts { engine, clock, .. } = parts;
        let ids = Arc::clone(parts.ids);
        Ok(Self {
            documents: DocumentLock::default(),
            secrets: Arc::clone(parts.secrets),
            client: OutboundClient::new(OutboundPolicy::new(parts.outbound))?,
            mailer: Mailer::from_settings(parts.smtp)?,
            settings: notifications.clone(),
            public_url: parts.public_url.clone(),
            counters: channels::load_counters(engine).map_err(AlertingError::into_engine)?,
            evaluation: EvaluationStatus::new(clock.steady()),
            ledger: AlertLedger::open(engine.clone(), ids, clock.clone())?,
            directory: CurrentDirectory::default(),
            slow_receivers: SlowReceivers::default(),
            tests: Semaphore::new(limits::CHANNEL_TESTS_AT_ONCE),
            received: ReceivedAlerts::open(engine.clone())?,
            rules: rules.clone(),
        })
    }

    /// Returns the lock that every change of the area's documents holds.
    pub(super) fn documents(&self) -> &DocumentLock {
        &self.documents
    }

    /// Returns the key for secrets.
    pub(super) fn secrets(&self) -> &SecretStore {
        &self.secrets
    }

    /// Returns the client for addresses that users chose.
    pub(super) fn client(&self) -> &OutboundClient {
        &self.client
    }

    /// Returns the client of the mail server; `None` if there is none.
    pub(super) fn mailer(&self) -> Option<&Mailer> {
        self.mailer.as_ref()
    }

    /// Returns how often each channel was used.
    pub(super) fn counters(&self) -> &ChannelCounters {
        &self.counters
    }

    /// Returns the alerts.
    pub(super) fn ledger(&self) -> &AlertLedger {
        &self.ledger
    }

    /// Returns the configuration as alerts need it, with all changes before the call. Blocks.
    pub(super) fn directory(&self, app: &App) -> Result<Arc<Directory>, AlertingError> {
        self.directory.get(app)
    }

    /// Returns what became of the last evaluation of each rule.
    pub(super) fn evaluation(&self) -> &EvaluationStatus {
        &self.evaluation
    }

    /// Returns the alerts of other senders.
    pub(super) fn received(&self) -> &ReceivedAlerts {
        &self.received
    }

    /// Waits until another channel may be tested.
    pub(super) async fn enter_test(&self) -> Option<SemaphorePermit<'_>> {
        self.tests.acquire().await.ok()
    }

    /// Returns the receivers that failed or were slow the last time.
    pub(super) fn slow_receivers(&self) -> &SlowReceivers {
        &self.slow_receivers
    }

    /// Returns the settings of the evaluation of rules.
    pub(super) fn rules(&self) -> &EvaluationSettings {
        &self.rules
    }

    /// Returns roughly how much memory alerting takes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let parts = [
            self.ledger.memory_bytes(),
            self.directory.memory_bytes(),
            self.evaluation.memory_bytes(),
            self.received.memory_bytes(),
        ];
        parts.into_iter().sum()
    }

    /// Returns the settings of notifications.
    pub(super) fn settings(&self) -> &NotificationSettings {
        &self.settings
    }

    /// Returns the address under which users reach the server, for links.
    pub(super) fn public_url(&self) -> Option<&str> {
        self.public_url.get().map(BaseUrl::as_str)
    }
}
