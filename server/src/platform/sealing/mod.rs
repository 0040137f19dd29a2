//! Secrets at rest: what users store so that the server can reach other systems is encrypted before
//! it is stored.
//!
//! One key of 32 bytes seals all secrets with XChaCha20-Poly1305. It is in the file `secret.key` of
//! the data directory, or in the environment, which takes precedence. A sealed value names its key,
//! so that a wrong key differs from damage, and is bound to its place: it cannot be opened in
//! another record or field. Does not know what is sealed, nor where it is stored.

pub mod key_file;
mod sealed;
mod sealer;
mod secret;
mod secret_key;
mod secret_store;
mod settings;

pub use key_file::KeyFileError;
pub use sealed::{SealError, Sealed, UnsealError};
pub use sealer::{SealContext, Sealer};
pub use secret::Secret;
pub use secret_key::{InvalidSecretKey, KeyId, SecretKey};
pub use secret_store::SecretStore;
pub use settings::SecretSettings;
