//! Why a language model cannot be used, or has not answered.

use crate::platform::outbound::{OutboundError, OutboundUrlError};

/// Why there is no answer of a language model.
#[derive(Debug, thiserror::Error)]
pub(in crate::areas::repositories) enum LlmError {
    /// The server cannot be reached, or does not answer in time.
    #[error("the language model cannot be reached: {0}")]
    Unreachable(#[from] OutboundError),
    /// It refused.
    #[error("the language model responded with status {status}{}", explanation(.message))]
    Refused {
        /// The status.
        status: u16,
        /// What it said, shortened and without the key; `None` if a part of the key was in it.
        message: Option<String>,
    },
    /// Its answer contains a part of the key.
    #[error("the language model responded with a part of its key")]
    Leaked,
    /// Its response is not what OpenAI's API describes, or has no text.
    #[error("the language model responded with something else than an answer")]
    Unreadable,
    /// The request cannot be made.
    #[error("the request to the language model cannot be made: {0}")]
    Request(String),
}

fn explanation(message: &Option<String>) -> String {
    message.as_ref().map(|message| format!(": {message}")).unwrap_or_default()
}

/// Why a language model cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum LlmSetupError {
    /// The URL is not valid.
    #[error("llm.base_url is not valid: {0}")]
    Url(#[from] OutboundUrlError),
    /// There is no model.
    #[error("llm.model is required with llm.base_url")]
    NoModel,
    /// The key is not valid.
    #[error("llm.api_key must consist of printable ASCII characters")]
    Key,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up for the language model: {0}")]
    Tls(#[from] std::io::Error),
}
