//! The mailer against mail servers that misbehave, on real sockets.
//!
//! `test_certificates` contains the certificate of a server for the name `localhost`, and that of
//! the authority which signed it; both are valid until 2126.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lettre::Message;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;
use crate::platform::settings::SettingValue;

/// Longer than any delivery takes.
const LONG: &str = "60s";
/// The offer of a server, before and after the switch to TLS.
const OFFER: &str = "250-mail\r\n250-STARTTLS\r\n250-8BITMIME\r\n250 AUTH LOGIN PLAIN\r\n";

/// What a server does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Say(&'static str),
    /// Reads a line, which must begin with this.
    Hear(&'static str),
    /// Reads a message up to its final dot.
    HearMessage,
    /// Completes a handshake.
    Tls,
    /// Sends a byte of an endless line every few milliseconds.
    Dribble,
    /// Sends an endless line as fast as possible.
    Flood,
    /// Waits for the client to leave.
    Hang,
}
use Step::{Dribble, Flood, Hang, Hear, HearMessage, Say, Tls};

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A server for one session: plays a script and returns the lines that it heard. A client that
/// leaves ends the script.
struct Server {
    port: u16,
    session: JoinHandle<Vec<String>>,
}

impl Server {
    async fn playing(script: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script: Vec<Step> = script.into_iter().collect();
        let session = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut heard = Vec::new();
            play(Box::new(stream), script, &mut heard).await;
            heard
        });
        Self { port, session }
    }

    async fn heard(self) -> Vec<String> {
        timeout(Duration::from_secs(10), self.session).await.unwrap().unwrap()
    }
}

async fn play(mut stream: Box<dyn Stream>, script: Vec<Step>, heard: &mut Vec<String>) {
    for step in script {
        match step {
            Say(text) => drop(stream.write_all(text.as_bytes()).await),
            Hear(start) => {
                let Some(line) = read_to(&mut stream, b"\r\n").await else { return };
                assert!(line.starts_with(start), "heard {line:?} instead of {start:?}");
                heard.push(line);
            }
            HearMessage => {
                let Some(message) = read_to(&mut stream, b"\r\n.\r\n").await else { return };
                heard.push(message);
            }
            Tls => match acceptor().accept(stream).await {
                Ok(encrypted) => stream = Box::new(encrypted),
                Err(_) => return,
            },
            Dribble => {
                while stream.write_all(b"2").await.is_ok() {
                    sleep(Duration::from_millis(5)).await;
                }
            }
            Flood => while stream.write_all(&[b'2'; 8_192]).await.is_ok() {},
            Hang => drop(stream.read_to_end(&mut Vec::new()).await),
        }
    }
}

/// Reads up to `end`, or returns `None` if the client leaves first.
async fn read_to(stream: &mut Box<dyn Stream>, end: &[u8]) -> Option<String> {
    let mut received = Vec::new();
    while !received.ends_with(end) {
        received.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(received).unwrap().trim_end().to_owned())
}

fn acceptor() -> TlsAcceptor {
    let chain = CertificateDer::from_pem_file(certificate("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(certificate("server_key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn certificate(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/platform/mail/test_certificates").join(name)
}

/// Returns settings for a server on this machine, without encryption.
fn plain(port: u16) -> SmtpSettings {
    SmtpSettings {
        host: SmtpHost::from_text("127.0.0.1").unwrap(),
        port: SmtpPort::from_integer(port.into()).unwrap(),
        security: SmtpSecurity::None,
        from: SenderAddress::from_text("Telltale <telltale@example.com>").unwrap(),
        timeout: SettingValue::from_text(LONG).unwrap(),
        ..SmtpSettings::default()
    }
}

/// Returns settings for a server on this machine with the test certificate and a login.
fn encrypted(port: u16, security: SmtpSecurity) -> SmtpSettings {
    SmtpSettings {
        host: SmtpHost::from_text("localhost").unwrap(),
        security,
        username: SmtpUser::from_text("ann").unwrap(),
        password: "planted".to_owned().into(),
        ca_file: AuthorityFile::from_text(certificate("authority.pem").to_str().unwrap()).unwrap(),
        ..plain(port)
    }
}

fn mailer(settings: &SmtpSettings) -> Mailer {
    Mailer::from_settings(settings).unwrap().unwrap()
}

fn message(to: &[&str], body: &str) -> Message {
    let from = "Telltale <telltale@example.com>".parse().unwrap();
    let message = Message::builder().from(from).subject("Disk is full");
    let message = to.iter().fold(message, |message, to| message.to(to.parse().unwrap()));
    message.body(body.to_owned()).unwrap()
}

fn note() -> Message {
    message(&["bob@example.com"], "90 %\n.\n")
}

/// The rest of a session in which a message is accepted.
const DELIVERY: [Step; 9] = [
    Hear("MAIL FROM:<telltale@example.com>"),
    Say("250 ok\r\n"),
    Hear("RCPT TO:<bob@example.com>"),
    Say("250 ok\r\n"),
    Hear("DATA"),
    Say("354 go\r\n"),
    HearMessage,
    Say("250 queued\r\n"),
    Hear("QUIT"),
];

/// Sends the note and returns the error.
async fn fails(settings: &SmtpSettings) -> MailError {
    mailer(settings).send(note()).await.unwrap_err()
}

#[tokio::test]
async fn a_message_is_delivered_after_the_switch_to_tls_and_the_login() {
    let start = [Say("220 mail ESMTP\r\n"), Hear("EHLO "), Say(OFFER), Hear("STARTTLS")];
    let login = [Say("220 go\r\n"), Tls, Hear("EHLO "), Say(OFFER)];
    // A NUL, `ann`, a NUL and `planted`.
    let password = [Hear("AUTH PLAIN AGFubgBwbGFudGVk"), Say("235 welcome\r\n")];
    let server =
        Server::playing(start.into_iter().chain(login).chain(password).chain(DELIVERY)).await;
    let settings = encrypted(server.port, SmtpSecurity::StartTls);
    mailer(&settings).send(note()).await.unwrap();
    let heard = server.heard().await;
    assert_eq!(heard.len(), 9, "{heard:?}");
    let message = &heard[7];
    assert!(message.contains("Subject: Disk is full\r\n"), "{message}");
    assert!(message.ends_with("90 %\r\n..\r\n\r\n."), "{message:?}");
}

#[tokio::test]
async fn a_message_is_delivered_with_tls_from_the_beginning_and_the_old_login() {
    let offer = "250-mail\r\n250 AUTH LOGIN\r\n";
    let start = [Tls, Say("220 mail ESMTP\r\n"), Hear("EHLO "), Say(offer)];
    let login = [
        Hear("AUTH LOGIN"),
        Say("334 VXNlcm5hbWU6\r\n"),
        Hear("YW5u"),
        Say("334 UGFzc3dvcmQ6\r\n"),
        Hear("cGxhbnRlZA=="),
        Say("235 welcome\r\n"),
    ];
    let server = Server::playing(start.into_iter().chain(login).chain(DELIVERY)).await;
    mailer(&encrypted(server.port, SmtpSecurity::Tls)).send(note()).await.unwrap();
    assert_eq!(server.heard().await.len(), 9);
}

#[tokio::test]
async fn a_message_is_accepted_although_the_farewell_hangs() {
    let start = [Say("220 mail\r\n"), Hear("EHLO "), Say("250 mail\r\n")];
    let server = Server::playing(start.into_iter().chain(DELIVERY).chain([Hang])).await;
    let settings = plain(server.port);
    let mailer = mailer(&settings);
    timeout(Duration::from_secs(5), mailer.send(note())).await.unwrap().unwrap();
    assert_eq!(server.heard().await.len(), 6);
}

#[tokio::test]
async fn an_offer_of_tls_cannot_be_removed() {
    let offer = "250-mail\r\n250 AUTH PLAIN\r\n";
    let script = [Say("220 mail\r\n"), Hear("EHLO "), Say(offer), Hear("AUTH")];
    let server = Server::playing(script).await;
    let error = fails(&encrypted(server.port, SmtpSecurity::StartTls)).await;
    assert!(matches!(error, MailError::NoStartTls), "{error}");
    assert!(!error.is_temporary());
    assert_eq!(server.heard().await.len(), 1, "neither the login nor the message was sent");
}

#[tokio::test]
async fn replies_that_are_planted_before_the_handshake_are_refused() {
    for planted in ["220 go\r\n250 AUTH PLAIN\r\n", "220 go\r\nx"] {
        let start = [Say("220 mail\r\n"), Hear("EHLO "), Say(OFFER), Hear("STARTTLS")];
        let end = [Say(planted), Tls, Hear("EHLO ")];
        let server = Server::playing(start.into_iter().chain(end)).await;
        let error = fails(&encrypted(server.port, SmtpSecurity::StartTls)).await;
        assert!(matches!(error, MailError::Protocol), "{planted:?}: {error}");
        assert_eq!(server.heard().await.len(), 2);
    }
}

#[tokio::test]
async fn a_certificate_must_be_of_a_trusted_authority_and_for_the_host() {
    let trusted = |port| encrypted(port, SmtpSecurity::Tls);
    let unknown = |port| SmtpSettings { ca_file: SmtpSettings::default().ca_file, ..trusted(port) };
    let renamed = |port| SmtpSettings { host: plain(port).host, ..trusted(port) };
    for settings in [&unknown as &dyn Fn(u16) -> SmtpSettings, &renamed] {
        let server = Server::playing([Tls, Say("220 mail\r\n"), Hear("EHLO ")]).await;
        let error = fails(&settings(server.port)).await;
        assert!(matches!(error, MailError::Tls { .. }), "{error}");
        assert_eq!(error.to_string(), "TLS with the mail server failed");
        assert_eq!(server.heard().await, [""; 0]);
    }
}

#[tokio::test]
async fn refusals_are_reported_by_code_and_command() {
    let greet = [Say("220 mail\r\n"), Hear("EHLO "), Say("250 mail\r\n")];
    let session: Vec<Step> = greet.into_iter().chain(DELIVERY).collect();
    // The replies to each command, by position.
    for (at, command) in [
        (0, "EHLO"),
        (2, "EHLO"),
        (4, "the sender"),
        (6, "a recipient"),
        (8, "DATA"),
        (10, "the message"),
    ] {
        for (reply, code, is_temporary) in [
            ("451 planted later\r\n", 451, true),
            ("421-planted\r\n421 bye\r\n", 421, true),
            ("550 5.1.1 planted unknown\r\n", 550, false),
        ] {
            let script = session[..at].iter().copied().chain([Say(reply), Hear("QUIT")]);
            let server = Server::playing(script).await;
            let error = fails(&plain(server.port)).await;
            assert_eq!(error.to_string(), format!("the mail server answered {code} to {command}"));
            assert!(!format!("{error:?}").contains("planted"), "{error:?}");
            assert_eq!(error.is_temporary(), is_temporary, "{error}");
            let is_of_message = ["a recipient", "the message"].contains(&command);
            assert_eq!(error.is_permanent(), !is_temporary && is_of_message, "{error}");
        }
    }
}

#[tokio::test]
async fn a_refused_login_is_permanent_unless_the_server_says_otherwise() {
    for (offer, reply, expected, is_temporary) in [
        (OFFER, "535 AGFubgBwbGFudGVk\r\n", "the mail server answered 535 to the login", false),
        (OFFER, "454 later\r\n", "the mail server answered 454 to the login", true),
        (OFFER, "334 cGxhbnRlZA==\r\n", "the mail server broke the protocol", true),
        (
            "250 mail\r\n",
            "",
            "the mail server offers neither AUTH PLAIN nor AUTH LOGIN, which smtp.username requires",
            false,
        ),
    ] {
        let start = [Tls, Say("220 mail\r\n"), Hear("EHLO "), Say(offer)];
        let end = [Hear(if reply.is_empty() { "QUIT" } else { "AUTH PLAIN " }), Say(reply), Hang];
        let server = Server::playing(start.into_iter().chain(end)).await;
        let error = fails(&encrypted(server.port, SmtpSecurity::Tls)).await;
        assert_eq!((error.to_string().as_str(), error.is_temporary()), (expected, is_temporary));
        assert!(!format!("{error:?}").contains("AGFubgBwbGFudGVk"), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_or_too_little_is_left_in_time() {
    let greeted = [Say("220 mail\r\n"), Hear("EHLO ")];
    for (security, script) in [
        (SmtpSecurity::None, vec![Hang]),
        (SmtpSecurity::None, vec![Dribble]),
        (SmtpSecurity::None, greeted.into_iter().chain([Say("250-a\r\n"), Dribble]).collect()),
        (SmtpSecurity::Tls, vec![Hang]),
        (SmtpSecurity::StartTls, vec![Say("220-a\r\n"), Dribble]),
        (SmtpSecurity::StartTls, greeted.into_iter().chain([Hang]).collect()),
    ] {
        let server = Server::playing(script.clone()).await;
        let limit = SettingValue::from_text("200ms").unwrap();
        let login = encrypted(server.port, security);
        let settings = if security == SmtpSecurity::None { plain(server.port) } else { login };
        let mailer = mailer(&SmtpSettings { timeout: limit, ..settings });
        let sent = timeout(Duration::from_secs(5), mailer.send(note())).await.unwrap();
        let error = sent.unwrap_err();
        assert!(matches!(error, MailError::TimedOut(_)) && error.is_temporary(), "{script:?}");
        assert_eq!(error.to_string(), "no acknowledgement from the mail server within 0.2 s");
    }
}

#[tokio::test]
async fn a_server_that_sends_too_much_or_leaves_is_given_up() {
    for (security, script) in [
        (SmtpSecurity::None, vec![Flood]),
        (SmtpSecurity::None, vec![Say("220 mail\r\n"), Hear("EHLO "), Flood]),
        (SmtpSecurity::StartTls, vec![Flood]),
        (SmtpSecurity::None, vec![]),
        (SmtpSecurity::None, vec![Say("220 mail\r\n"), Hear("EHLO ")]),
        (SmtpSecurity::StartTls, vec![Say("220 mail\r\n"), Hear("EHLO ")]),
        (SmtpSecurity::Tls, vec![]),
        (SmtpSecurity::None, vec![Say("HTTP/1.1 400 Bad Request\r\n\r\n"), Hang]),
        (SmtpSecurity::StartTls, vec![Say("HTTP/1.1 400 Bad Request\r\n\r\n"), Hang]),
    ] {
        let server = Server::playing(script.clone()).await;
        let login = encrypted(server.port, security);
        let settings = if security == SmtpSecurity::None { plain(server.port) } else { login };
        let mailer = mailer(&settings);
        let sent = timeout(Duration::from_secs(10), mailer.send(note())).await.unwrap();
        let error = sent.unwrap_err();
        let expected =
            matches!(error, MailError::Protocol | MailError::Connection(_) | MailError::Tls { .. });
        assert!(expected && error.is_temporary(), "{script:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_a_temporary_failure() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let error = fails(&plain(closed)).await;
    assert!(matches!(error, MailError::Connect { .. }) && error.is_temporary(), "{error}");
    let host = SmtpHost::from_text("mail.invalid").unwrap();
    let error = fails(&SmtpSettings { host, ..plain(closed) }).await;
    assert!(matches!(error, MailError::Resolve { .. }) && error.is_temporary(), "{error}");
}

#[tokio::test]
async fn eight_deliveries_run_at_once_and_who_waits_has_not_begun() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limit = SettingValue::from_text("600ms").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mailer = Arc::new(mailer(&SmtpSettings { timeout: limit, ..plain(port) }));
    let deliveries: Vec<_> = (0..20)
        .map(|_| {
            let mailer = Arc::clone(&mailer);
            tokio::spawn(async move { mailer.send(note()).await })
        })
        .collect();
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(listener.accept().await.unwrap());
    }
    let ninth = timeout(Duration::from_millis(200), listener.accept());
    assert!(ninth.await.is_err(), "nobody else connects before one of them ends");
    // The others begin when these have timed out, and have as much time.
    for _ in 8..20 {
        open.push(listener.accept().await.unwrap());
    }
    for delivery in deliveries {
        let error = delivery.await.unwrap().unwrap_err();
        assert!(matches!(error, MailError::TimedOut(_)), "{error}");
    }
}

#[tokio::test]
async fn what_the_server_does_not_support_is_not_sent() {
    let long = "x".repeat(1 << 20);
    for (sent, expected) in [
        (
            message(&["bob@example.com", "jörg@example.com"], "90 %"),
            "the mail server does not support addresses with characters beyond ASCII",
        ),
        (message(&["bob@example.com"], &long), "more than 1048576"),
    ] {
        let start = [Say("220 mail\r\n"), Hear("EHLO "), Say("250 mail\r\n"), Hear("QUIT")];
        let server = Server::playing(start).await;
        let error = mailer(&plain(server.port)).send(sent).await.unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(!error.is_temporary());
    }
}

#[test]
fn incomplete_settings_are_refused() {
    let full = encrypted(25, SmtpSecurity::StartTls);
    let default = SmtpSettings::default();
    assert!(Mailer::from_settings(&default).unwrap().is_none());
    let absent = AuthorityFile::from_text("/nonexistent/ca.pem").unwrap();
    for (settings, expected) in [
        (
            SmtpSettings { from: default.from.clone(), ..full.clone() },
            "smtp.from is required if smtp.host is set",
        ),
        (
            SmtpSettings { username: default.username.clone(), ..full.clone() },
            "smtp.username and smtp.password must be set together",
        ),
        (
            SmtpSettings { password: default.password.clone(), ..full.clone() },
            "smtp.username and smtp.password must be set together",
        ),
        (
            SmtpSettings { security: SmtpSecurity::None, ..full.clone() },
            "smtp.security must not be \"none\" if smtp.username is set: the password would be sent unencrypted",
        ),
        (
            SmtpSettings { password: "a\0b".to_owned().into(), ..full.clone() },
            "smtp.password must not contain a NUL character",
        ),
        (
            SmtpSettings { ca_file: absent, ..full.clone() },
            "smtp.ca_file: cannot read certificates from /nonexistent/ca.pem",
        ),
    ] {
        assert_eq!(Mailer::from_settings(&settings).unwrap_err().to_string(), expected);
    }
    let mailer = mailer(&full);
    assert_eq!(mailer.sender().to_string(), "Telltale <telltale@example.com>");
    let printed = format!("{mailer:?} {full:?}");
    assert!(!printed.contains("planted"), "{printed}");
}
