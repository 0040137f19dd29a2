//! What every area may use to set up its state.

use std::sync::Arc;

use telltale_engine::{Clock, Engine};

use super::alerting::OptionalBaseUrl;
use crate::platform::ids::Ids;
use crate::platform::mail::SmtpSettings;
use crate::platform::outbound::OutboundSettings;
use crate::platform::sealing::SecretStore;
use crate::platform::ticks::Ticks;

/// What areas share. The settings of its own sections are given to each area apart.
#[derive(Clone, Copy, Debug)]
pub struct AreaParts<'a> {
    /// The engine, which is open.
    pub engine: &'a Engine,
    /// The clock.
    pub clock: &'a Clock,
    /// The ticks that rates are measured with.
    pub ticks: &'a Ticks,
    /// New ids.
    pub ids: &'a Arc<Ids>,
    /// The key for secrets.
    pub secrets: &'a Arc<SecretStore>,
    /// The URL under which users reach the server.
    pub public_url: &'a OptionalBaseUrl,
    /// Which addresses requests may reach.
    pub outbound: &'a OutboundSettings,
    /// The mail server.
    pub smtp: &'a SmtpSettings,
}
