//! The setting of the key for secrets.

use super::secret::Secret;
use crate::platform::settings::settings_section;

settings_section! {
    /// Secrets at rest, such as the credentials of notification channels.
    #[derive(Clone, Debug, PartialEq)]
    "secrets" SecretSettings {
        /// The key that seals secrets: 32 bytes in base64. Without it, a key is generated when the
        /// first secret is stored, in the file `secret.key` of the data directory. Backups do not
        /// contain that file: keep a copy of it elsewhere.
        key: Secret = "", variable "TELLTALE_SECRET_KEY";
    }
}
