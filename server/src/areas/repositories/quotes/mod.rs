//! What may be quoted of a repository: whole sentences of its documentation, and lines that hold no
//! secret. Knows no index: text in, text out.

mod limits;
mod locate;
mod markup;
mod redacted;
mod secrets;
mod sentences;
mod visible;

pub use locate::locate;
pub use markup::without_markup;
pub use redacted::{REDACTED, without_secrets};
pub use secrets::{contains_secret, is_secret_line, private_key_lines, secret_lines};
pub use sentences::{first_sentence, sentences};
pub use visible::is_visible;
