//! Why mail cannot be sent, in words that are safe to show to users: not where the mail server is,
//! nothing of what it answered beyond its code, and no password.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use lettre::transport::smtp;

/// Why the settings of the mail server are refused.
#[derive(Debug, thiserror::Error)]
pub enum MailSetupError {
    /// There is no sender.
    #[error("smtp.from is required if smtp.host is set")]
    NoSender,
    /// The user name has no password, or the other way round.
    #[error("smtp.username and smtp.password must be set together")]
    HalfOfCredentials,
    /// The password would be sent unencrypted.
    #[error(
        "smtp.security must not be \"none\" if smtp.username is set: the password would be sent unencrypted"
    )]
    UnencryptedPassword,
    /// The password contains a character that logins cannot contain.
    #[error("smtp.password must not contain a NUL character")]
    Password,
    /// The file with certificates cannot be used.
    #[error("smtp.ca_file: cannot read certificates from {path}")]
    AuthorityFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS for mail")]
    Tls(#[source] io::Error),
}

/// Why a message was not delivered to the mail server.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The host has no address, or the name server failed.
    #[error("cannot resolve the name of the mail server")]
    Resolve {
        /// The name.
        host: String,
        /// The error of the system.
        source: io::Error,
    },
    /// No address accepted a connection.
    #[error("cannot connect to the mail server")]
    Connect {
        /// The last address tried.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The TLS handshake failed, such as for an invalid certificate.
    #[error("TLS with the mail server failed")]
    Tls {
        /// The name.
        host: String,
        /// The error of the handshake.
        source: io::Error,
    },
    /// The server does not offer TLS, or somebody on the way removed the offer.
    #[error("the mail server does not offer STARTTLS, which smtp.security requires")]
    NoStartTls,
    /// The server refused a command or the message.
    #[error("the mail server answered {code} to {command}")]
    Refused {
        /// The reply code.
        code: u16,
        /// What it replied to.
        command: SmtpCommand,
    },
    /// The server offers no way of logging in that the client supports.
    #[error(
        "the mail server offers neither AUTH PLAIN nor AUTH LOGIN, which smtp.username requires"
    )]
    NoLogin,
    /// The server cannot deliver to an address with characters beyond ASCII.
    #[error("the mail server does not support addresses with characters beyond ASCII")]
    UnicodeAddress,
    /// The server cannot take a message with characters beyond ASCII.
    #[error("the mail server does not support messages with characters beyond ASCII")]
    UnicodeMessage,
    /// The message is longer than the limit.
    #[error("the message has {bytes} bytes, more than {max}")]
    TooLong {
        /// Bytes of the message.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The server sent something else than a reply.
    #[error("the mail server broke the protocol")]
    Protocol,
    /// The connection was closed or failed.
    #[error("the connection to the mail server failed")]
    Connection(#[source] io::Error),
    /// The delivery took longer than its limit. The server may have accepted the message.
    #[error("no acknowledgement from the mail server within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
}

/// What a mail server replies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpCommand {
    /// The connection itself.
    Connect,
    /// `EHLO`
    Hello,
    /// `STARTTLS`
    StartTls,
    /// `AUTH`
    Login,
    /// `MAIL`, with the sender.
    Sender,
    /// `RCPT`, with one recipient.
    Recipient,
    /// `DATA`
    Data,
    /// The message.
    Message,
}

impl MailError {
    /// Returns whether the same message may be delivered later. A login that is refused is refused
    /// again, unless the server says that the failure is temporary.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Refused { code, .. } => (400..500).contains(code),
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Protocol
            | Self::Connection(_)
            | Self::TimedOut(_) => true,
            Self::NoStartTls
            | Self::NoLogin
            | Self::UnicodeAddress
            | Self::UnicodeMessage
            | Self::TooLong { .. } => false,
        }
    }

    /// Returns whether the mail server refuses the message or one of its recipients for good, which
    /// a caller with one recipient takes for the end of it. What the operator can mend without a
    /// new message, such as a refused login or sender, is neither this nor temporary.
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Refused { code, command } => {
                let is_of_message =
                    [SmtpCommand::Recipient, SmtpCommand::Message].contains(command);
                is_of_message && (500..600).contains(code)
            }
            Self::UnicodeAddress | Self::UnicodeMessage | Self::TooLong { .. } => true,
            Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::NoStartTls
            | Self::NoLogin
            | Self::Protocol
            | Self::Connection(_)
            | Self::TimedOut(_) => false,
        }
    }

    /// Converts an error of the client while it waited for the reply to `command`. Drops the text
    /// of the reply: it may repeat what was sent.
    pub(super) fn of_command(command: SmtpCommand, error: &smtp::Error) -> Self {
        if let Some(code) = error.status() {
            return Self::Refused { code: code.into(), command };
        }
        let cause = std::error::Error::source(error);
        match cause.and_then(|cause| cause.downcast_ref::<io::Error>()) {
            Some(cause) => Self::Connection(cause.kind().into()),
            None => Self::Protocol,
        }
    }
}

impl fmt::Display for SmtpCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "the connection",
            Self::Hello => "EHLO",
            Self::StartTls => "STARTTLS",
            Self::Login => "the login",
            Self::Sender => "the sender",
            Self::Recipient => "a recipient",
            Self::Data => "DATA",
            Self::Message => "the message",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_of_the_message_or_of_a_recipient_are_permanent() {
        use SmtpCommand::{Connect, Data, Hello, Login, Message, Recipient, Sender, StartTls};
        for command in [Connect, Hello, StartTls, Login, Sender, Recipient, Data, Message] {
            let is_of_message = [Recipient, Message].contains(&command);
            for (code, is_permanent) in [(421, false), (451, false), (550, true), (554, true)] {
                let error = MailError::Refused { code, command };
                assert_eq!(error.is_permanent(), is_permanent && is_of_message, "{error}");
                assert!(!(error.is_permanent() && error.is_temporary()), "{error}");
            }
        }
        assert!(MailError::UnicodeAddress.is_permanent());
        assert!(MailError::TooLong { bytes: 2, max: 1 }.is_permanent());
        for error in [MailError::NoLogin, MailError::NoStartTls, MailError::Protocol] {
            assert!(!error.is_permanent(), "{error}");
        }
    }
}
