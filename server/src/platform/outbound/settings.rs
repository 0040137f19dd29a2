//! The settings of outbound requests.

use super::cidr::Cidr;
use crate::platform::settings::settings_section;

settings_section! {
    /// Requests that the server sends on behalf of its users.
    #[derive(Clone, Debug, PartialEq)]
    "outbound" OutboundSettings {
        /// Private, loopback and other special address ranges that may be reached nevertheless.
        allow: Vec<Cidr> = "";
    }
}
