//! What the area keeps in memory, and what it uses to check.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::addresses::PageAddresses;
use super::documents::DocumentLock;
use super::error::StatusError;
use super::monitors::{self, MonitorTable};
use super::page_directory::{CurrentPages, PageDirectory};
use super::pages::Page;
use super::public::PublicCache;
use super::settings::StatusSettings;
use super::subscribers::{SubscriberTable, SubscriptionPace};
use super::{hosts, limits};
use crate::app::App;
use crate::areas::AreaParts;
use crate::http::HostedSite;
use crate::platform::mail::{MailSetupError, Mailer};
use crate::platform::outbound::{OutboundClient, OutboundPolicy};
use crate::platform::sealing::SecretStore;

/// The state of monitors and status pages.
#[derive(Debug)]
pub struct Status {
    documents: DocumentLock,
    secrets: Arc<SecretStore>,
    client: OutboundClient,
    monitors: MonitorTable,
    pages: CurrentPages,
    addresses: PageAddresses,
    public: PublicCache,
    subscribers: SubscriberTable,
    subscription_pace: SubscriptionPace,
    /// Of its own: mails to many subscribers must not delay those about alerts.
    mailer: Option<Mailer>,
    /// The generation of the documents of which all notices are enqueued, plus one.
    notices_enqueued: AtomicU64,
    /// Held by checks that users ask for.
    asked_checks: Semaphore,
}

/// Why the area cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum StatusSetupError {
    /// TLS cannot be set up.
    #[error("cannot set up TLS for checks: {0}")]
    Tls(#[from] std::io::Error),
    /// The settings of the mail server are refused.
    #[error(transparent)]
    Mail(#[from] MailSetupError),
    /// The monitors cannot be read.
    #[error("cannot read the monitors: {0}")]
    Monitors(#[from] telltale_engine::Error),
}

impl Status {
    /// Loads the monitors, and what is stored of status pages. Blocks.
    pub fn open(parts: AreaParts<'_>, settings: &StatusSettings) -> Result<Self, StatusSetupError> {
        let AreaParts { engine, clock, secrets, .. } = parts;
        let monitors = monitors::load(engine, secrets)?;
        let per_hour = u32::try_from(settings.subscriptions_per_hour).unwrap_or(u32::MAX);
        let per_hour = NonZeroU32::new(per_hour).unwrap_or(NonZeroU32::MIN);
        Ok(Self {
            documents: DocumentLock::default(),
            client: OutboundClient::new(OutboundPolicy::new(parts.outbound))?,
            monitors: MonitorTable::open(engine.clone(), clock.clone(), monitors)?,
            pages: CurrentPages::open(engine).map_err(StatusError::into_engine)?,
            public: PublicCache::default(),
            subscribers: SubscriberTable::open(engine.clone())?,
            subscription_pace: SubscriptionPace::new(per_hour, parts.ticks.clone()),
            mailer: Mailer::from_settings(parts.smtp)?,
            notices_enqueued: AtomicU64::new(0),
            addresses: PageAddresses::new(&settings.domain, parts.public_url),
            secrets: Arc::clone(secrets),
            asked_checks: Semaphore::new(limits::CHECKS_ASKED_AT_ONCE),
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

    /// Returns the monitors.
    pub(super) fn monitors(&self) -> &MonitorTable {
        &self.monitors
    }

    /// Returns the status pages with everything that belongs to them, with all changes before the
    /// call. Blocks if there were any.
    pub(super) fn pages(&self, app: &App) -> Result<Arc<PageDirectory>, StatusError> {
        self.pages.get(app)
    }

    /// Returns what the addresses of status pages follow from.
    pub(super) fn addresses(&self) -> &PageAddresses {
        &self.addresses
    }

    /// Returns the status pages with all changes before the call; `None` if they must be read for
    /// that.
    pub(super) fn current_pages(&self, app: &App) -> Option<Arc<PageDirectory>> {
        self.pages.current(app)
    }

    /// Returns the URL of a page; only a path if the server does not know its own address.
    pub(super) fn page_url(&self, page: &Page) -> String {
        self.addresses.url(page.subdomain.as_str(), page.custom_domain.as_deref())
    }

    /// Returns whether visitors of a page can subscribe: mails can be sent, and have links.
    pub(super) fn can_subscribe(&self, page: &Page) -> bool {
        self.mailer.is_some() && !self.page_url(page).starts_with('/')
    }

    /// Returns whether the host name of a request may be that of a status page.
    pub(crate) fn may_have_hosts(&self) -> bool {
        self.addresses.has_domain() || !self.pages.custom_domains().is_empty()
    }

    /// Returns what a host serves, given in lower case and without a port.
    pub(crate) fn site(&self, host: &str) -> HostedSite {
        hosts::site(&self.addresses, self.pages.custom_domains(), host)
    }

    /// Returns the rendered pages.
    pub(super) fn public(&self) -> &PublicCache {
        &self.public
    }

    /// Returns the subscribers of all pages.
    pub(super) fn subscribers(&self) -> &SubscriberTable {
        &self.subscribers
    }

    /// Returns how often addresses may be entered.
    pub(super) fn subscription_pace(&self) -> &SubscriptionPace {
        &self.subscription_pace
    }

    /// Returns the client of the mail server; `None` if there is none.
    pub(super) fn mailer(&self) -> Option<&Mailer> {
        self.mailer.as_ref()
    }

    /// Returns whether all notices of a generation of the documents are enqueued.
    pub(super) fn notices_enqueued(&self, generation: u64) -> bool {
        self.notices_enqueued.load(Ordering::Acquire) == generation + 1
    }

    /// Remembers that all notices of a generation of the documents are enqueued.
    pub(super) fn set_notices_enqueued(&self, generation: u64) {
        self.notices_enqueued.store(generation + 1, Ordering::Release);
    }

    /// Waits until another check that a user asks for may run.
    pub(super) async fn enter_check(&self) -> Option<SemaphorePermit<'_>> {
        self.asked_checks.acquire().await.ok()
    }

    /// Returns roughly how much memory the area takes, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let parts = [
            self.monitors.memory_bytes(),
            self.pages.memory_bytes(),
            self.public.memory_bytes(),
            self.subscribers.memory_bytes(),
        ];
        parts.into_iter().sum()
    }
}
