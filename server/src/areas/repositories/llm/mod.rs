//! The client of a language model: any server with OpenAI's `/chat/completions`
//! (<https://platform.openai.com/docs/api-reference/chat/create>). It proposes the wording of
//! answers; what it says is checked by those who ask it.

mod client;
mod error;
mod limits;
mod redaction;
mod settings;
mod wire;

pub(super) use client::LanguageModel;
pub use error::LlmSetupError;
pub use settings::LlmSettings;
