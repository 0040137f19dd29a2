//! Delivers messages to the mail server.
//!
//! Each delivery has a connection of its own. Messages are rare compared with the minutes after
//! which mail servers close idle connections, so a kept one would usually be closed when it is
//! needed, and a server that closes it looks like one that fails.

use std::net::Ipv4Addr;
use std::time::Duration;

use lettre::Message;
use lettre::address::Envelope;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Auth, Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::Response;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::connection::{self, Encryption};
use super::error::{MailError, MailSetupError, SmtpCommand};
use super::setting_values::SmtpSecurity;
use super::settings::SmtpSettings;
use crate::platform::process;
use crate::platform::sealing::Secret;
use crate::platform::tls::{self, FurtherAuthorities};

/// Maximum number of deliveries at once: few enough for any mail server, and a server that hangs
/// holds no more than these.
const DELIVERIES_AT_ONCE: usize = 8;
/// Bytes of a message: a hundred times those of a notification.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Timeout of the farewell, after a message was accepted or refused.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of questions of a login; `AUTH LOGIN` has two.
const LOGIN_STEPS_MAX: usize = 4;

/// Delivers messages to the configured mail server.
#[derive(Debug)]
pub struct Mailer {
    host: String,
    port: u16,
    encryption: Encryption,
    credentials: Option<(String, Secret)>,
    sender: Mailbox,
    hello: ClientId,
    timeout: Duration,
    slots: Semaphore,
}

impl Mailer {
    /// Returns the mailer of the configuration, or `None` if no mail server is configured. Reads
    /// the certificate authorities.
    pub fn from_settings(settings: &SmtpSettings) -> Result<Option<Self>, MailSetupError> {
        let Some(host) = settings.host.get() else { return Ok(None) };
        let sender = settings.from.get().ok_or(MailSetupError::NoSender)?.clone();
        let credentials = match (settings.username.get(), settings.password.is_empty()) {
            (None, true) => None,
            (Some(_), _) if settings.security == SmtpSecurity::None => {
                return Err(MailSetupError::UnencryptedPassword);
            }
            (Some(user), false) => Some((user.to_owned(), settings.password.clone())),
            _ => return Err(MailSetupError::HalfOfCredentials),
        };
        if settings.password.expose().contains('\0') {
            return Err(MailSetupError::Password);
        }
        Ok(Some(Self {
            host: host.to_owned(),
            port: settings.port.get(),
            encryption: encryption(settings)?,
            credentials,
            sender,
            hello: hello(&process::hostname()),
            timeout: settings.timeout.duration(),
            slots: Semaphore::new(DELIVERIES_AT_ONCE),
        }))
    }

    /// Returns the sender of all messages.
    pub fn sender(&self) -> &Mailbox {
        &self.sender
    }

    /// Delivers a message. If one of its recipients is refused, nobody gets it: a caller that must
    /// reach the others sends one message for each. The timeout begins with the connection, for
    /// which the caller may have to wait.
    pub async fn send(&self, message: Message) -> Result<(), MailError> {
        let bytes = message.formatted();
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(MailError::TooLong { bytes: bytes.len(), max: MESSAGE_BYTES_MAX });
        }
        // Who waits for others has not begun. The semaphore is never closed.
        let _slot = self.slots.acquire().await.ok();
        let delivery = async {
            let mut connection =
                connection::open(&self.host, self.port, &self.encryption, &self.hello).await?;
            let outcome = self.deliver(&mut connection, message.envelope(), &bytes).await;
            Ok((connection, outcome))
        };
        let delivery = timeout(self.timeout, Box::pin(delivery)).await;
        let (mut connection, outcome) =
            delivery.unwrap_or(Err(MailError::TimedOut(self.timeout)))?;
        // The outcome is certain, whatever the server says now.
        drop(timeout(QUIT_TIMEOUT, connection.quit()).await);
        outcome
    }

    async fn deliver(
        &self,
        connection: &mut AsyncSmtpConnection,
        envelope: &Envelope,
        message: &[u8],
    ) -> Result<(), MailError> {
        if let Some((user, password)) = &self.credentials {
            let credentials = Credentials::new(user.clone(), password.expose().to_owned());
            log_in(connection, &credentials).await?;
        }
        let parameters = parameters(connection, envelope, message)?;
        let sender = Mail::new(envelope.from().cloned(), parameters);
        command(connection, SmtpCommand::Sender, &sender).await?;
        for recipient in envelope.to() {
            let recipient = Rcpt::new(recipient.clone(), Vec::new());
            command(connection, SmtpCommand::Recipient, &recipient).await?;
        }
        command(connection, SmtpCommand::Data, &Data).await?;
        let sent = connection.message(message).await;
        sent.map(drop).map_err(|error| MailError::of_command(SmtpCommand::Message, &error))
    }
}

fn encryption(settings: &SmtpSettings) -> Result<Encryption, MailSetupError> {
    let connector = || {
        let further = match settings.ca_file.get() {
            None => FurtherAuthorities::default(),
            Some(path) => FurtherAuthorities::from_pem_file(path).map_err(|source| {
                MailSetupError::AuthorityFile { path: path.to_owned(), source }
            })?,
        };
        tls::connector(further, &[]).map_err(MailSetupError::Tls)
    };
    Ok(match settings.security {
        SmtpSecurity::StartTls => Encryption::StartTls(connector()?),
        SmtpSecurity::Tls => Encryption::Tls(connector()?),
        SmtpSecurity::None => Encryption::None,
    })
}

/// Returns how the client introduces itself: with the name of this machine if it can be a domain,
/// otherwise with an address (RFC 5321, section 4.1.4).
fn hello(name: &str) -> ClientId {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if name.split('.').all(is_label) {
        ClientId::Domain(name.to_owned())
    } else {
        ClientId::Ipv4(Ipv4Addr::LOCALHOST)
    }
}

/// Logs in with the first mechanism that the server offers.
async fn log_in(
    connection: &mut AsyncSmtpConnection,
    credentials: &Credentials,
) -> Result<(), MailError> {
    let mechanism = connection.server_info().get_auth_mechanism(DEFAULT_MECHANISMS);
    let mechanism = mechanism.ok_or(MailError::NoLogin)?;
    let mut next = Auth::new(mechanism, credentials.clone(), None);
    for _ in 0..LOGIN_STEPS_MAX {
        let step = next.map_err(|_| MailError::Protocol)?;
        let response = command(connection, SmtpCommand::Login, &step).await?;
        if !response.has_code(334) {
            return Ok(());
        }
        next = Auth::new_from_response(mechanism, credentials.clone(), &response);
    }
    Err(MailError::Protocol)
}

/// Returns the parameters that announce characters beyond ASCII. Fails if the server does not
/// support them.
fn parameters(
    connection: &AsyncSmtpConnection,
    envelope: &Envelope,
    message: &[u8],
) -> Result<Vec<MailParameter>, MailError> {
    let mut parameters = Vec::new();
    let supports = |extension| connection.server_info().supports_feature(extension);
    let mut addresses = envelope.from().into_iter().chain(envelope.to());
    if !addresses.all(|address| AsRef::<str>::as_ref(address).is_ascii()) {
        if !supports(Extension::SmtpUtfEight) {
            return Err(MailError::UnicodeAddress);
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !message.is_ascii() {
        if !supports(Extension::EightBitMime) {
            return Err(MailError::UnicodeMessage);
        }
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    Ok(parameters)
}

async fn command(
    connection: &mut AsyncSmtpConnection,
    name: SmtpCommand,
    line: &impl ToString,
) -> Result<Response, MailError> {
    let reply = connection.command(line.to_string()).await;
    reply.map_err(|error| MailError::of_command(name, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_whose_name_is_no_domain_introduces_itself_with_an_address() {
        for (name, expected) in [
            ("web-1.example.com", "web-1.example.com"),
            ("localhost", "localhost"),
            ("", "[127.0.0.1]"),
            ("web_1", "[127.0.0.1]"),
            ("a..b", "[127.0.0.1]"),
            ("a\r\nMAIL FROM:<x@example.com>", "[127.0.0.1]"),
        ] {
            assert_eq!(hello(name).to_string(), expected, "{name:?}");
        }
    }
}
