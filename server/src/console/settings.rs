//! The settings of the console.

use crate::platform::settings::{Period, settings_section};

settings_section! {
    /// The console: the pages of this server, and who is signed in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "console" ConsoleSettings {
        /// How long a session lasts without a request.
        session_idle: Period = "12h";
        /// How long a session lasts at most.
        session_age: Period = "30d";
        /// Maximum number of sessions of one key; when one more is opened, the one that was unused
        /// for longest ends.
        sessions_per_key: usize = "20";
        /// Maximum number of sessions of all keys, at most 100000; when one more is opened, the one
        /// that was unused for longest ends.
        sessions: usize = "10000";
        /// How many times a minute one IPv4 address or one /64 network of IPv6 may try to sign in.
        /// Behind a reverse proxy all people share the address of the proxy.
        sign_ins_per_minute: usize = "10";
    }
}
