//! Mail: messages that the server sends through the mail server of its operator.
//!
//! `settings` declares the section `[smtp]`, `mailer` delivers a message within a time limit,
//! `connection` opens connections. A connection is encrypted as configured or not used: a server
//! that stops offering TLS gets neither the password nor a message. What a server answers is never
//! part of an error message, except the code. Does not know what messages are about: that is the
//! caller's, who builds them with `lettre`.

mod connection;
mod error;
mod headers;
mod mailer;
mod setting_values;
mod settings;

pub use error::{MailError, MailSetupError, SmtpCommand};
pub use headers::{AutoSubmitted, ListUnsubscribe, ListUnsubscribePost};
pub use mailer::Mailer;
pub use setting_values::{
    AuthorityFile, SenderAddress, SmtpHost, SmtpPort, SmtpSecurity, SmtpUser,
};
pub use settings::SmtpSettings;

#[cfg(test)]
mod tests;
