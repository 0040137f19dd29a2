//! The settings of the mail server.

use super::setting_values::{
    AuthorityFile, SenderAddress, SmtpHost, SmtpPort, SmtpSecurity, SmtpUser,
};
use crate::platform::sealing::Secret;
use crate::platform::settings::{Period, settings_section};

settings_section! {
    /// The mail server that delivers messages to users. Without one, no mail is sent.
    #[derive(Clone, Debug, PartialEq)]
    "smtp" SmtpSettings {
        /// Name or address of the mail server.
        host: SmtpHost = "";
        /// Port of the mail server: 587 for `starttls`, usually 465 for `tls`.
        port: SmtpPort = "587";
        /// `starttls` begins unencrypted and requires that the server switches to TLS; `tls`
        /// encrypts from the beginning; `none` sends messages unencrypted and is refused together
        /// with `username`.
        security: SmtpSecurity = "starttls";
        /// User name, if the mail server requires one.
        username: SmtpUser = "";
        /// Password of `username`. Better set in the environment than in a file or a flag, which
        /// other users of the machine may see. It is printed as `[redacted]`.
        password: Secret = "";
        /// Sender of all messages, such as `Telltale <telltale@example.com>`. Required if `host` is
        /// set.
        from: SenderAddress = "";
        /// A PEM file with the certificates of authorities that are trusted for the mail server, in
        /// addition to those of the system.
        ca_file: AuthorityFile = "";
        /// Timeout of a delivery, from the name server to the acknowledgement of the message. It
        /// includes the wait for other deliveries, of which 8 run at once.
        timeout: Period = "10s";
    }
}
