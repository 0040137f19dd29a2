//! The JSON of OpenAI's API, as far as it is used.

use serde::{Deserialize, Serialize};

use crate::areas::repositories::answers::ChatMessage;

/// A request for an answer.
#[derive(Debug, Serialize)]
pub(super) struct CompletionRequest<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<MessageDocument<'a>>,
    /// The most likely words: the same question gets the same answer.
    pub(super) temperature: f32,
    pub(super) max_tokens: u32,
    pub(super) stream: bool,
}

/// A message of a conversation.
#[derive(Debug, Serialize)]
pub(super) struct MessageDocument<'a> {
    role: &'static str,
    content: &'a str,
}

/// The response.
#[derive(Debug, Deserialize)]
pub(super) struct CompletionResponse {
    choices: Vec<Choice>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: ChoiceMessage,
}

#[derive(Debug, Deserialize)]
struct ChoiceMessage {
    content: Option<String>,
}

impl<'a> MessageDocument<'a> {
    pub(super) fn new(message: &'a ChatMessage) -> Self {
        Self { role: message.role.name(), content: &message.content }
    }
}

impl CompletionResponse {
    /// Returns the text of the first answer.
    pub(super) fn into_text(self) -> Option<String> {
        let text = self.choices.into_iter().next()?.message.content?;
        (!text.trim().is_empty()).then_some(text)
    }
}
