//! The requests to a language model.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};

use super::error::{LlmError, LlmSetupError};
use super::limits;
use super::redaction::without_key;
use super::settings::LlmSettings;
use super::wire::{CompletionRequest, CompletionResponse, MessageDocument};
use crate::areas::repositories::answers::ChatMessage;
use crate::areas::repositories::quotes::is_visible;
use crate::platform::outbound::{
    BodyUse, Lane, OutboundClient, OutboundPolicy, OutboundRequest, OutboundUrl, Redirects,
};
use crate::platform::sealing::Secret;

/// A language model.
pub(in crate::areas::repositories) struct LanguageModel {
    client: OutboundClient,
    url: OutboundUrl,
    model: String,
    headers: HeaderMap,
    key: Secret,
    timeout: Duration,
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageModel").field("model", &self.model).finish_non_exhaustive()
    }
}

impl LanguageModel {
    /// Returns the model of the configuration; `None` if there is none.
    pub(in crate::areas::repositories) fn new(
        settings: &LlmSettings,
    ) -> Result<Option<Self>, LlmSetupError> {
        if settings.base_url.is_empty() {
            return Ok(None);
        }
        if settings.model.is_empty() {
            return Err(LlmSetupError::NoModel);
        }
        // The operator chose the address, so it may be a private one.
        let policy = OutboundPolicy::of_operator();
        let url = format!("{}/chat/completions", settings.base_url.trim_end_matches('/'));
        let url = OutboundUrl::parse(&url, &policy)?;
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone()), (CONTENT_TYPE, json)]);
        if !settings.api_key.is_empty() {
            let bearer = format!("Bearer {}", settings.api_key.expose());
            let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| LlmSetupError::Key)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        Ok(Some(Self {
            client: OutboundClient::new(policy)?,
            url,
            model: settings.model.clone(),
            headers,
            key: settings.api_key.clone(),
            timeout: settings.timeout.duration(),
        }))
    }

    /// Asks the model for the next message of a conversation.
    pub(in crate::areas::repositories) async fn complete(
        &self,
        messages: &[ChatMessage],
    ) -> Result<String, LlmError> {
        let response = self.client.send(self.request(messages)?).await?;
        let status = response.status;
        if !status.is_success() {
            return Err(LlmError::Refused {
                status: status.as_u16(),
                message: shown(&response.body, &self.key),
            });
        }
        if response.is_truncated {
            return Err(LlmError::Unreadable);
        }
        let read = serde_json::from_slice::<CompletionResponse>(&response.body);
        let text = read.ok().and_then(CompletionResponse::into_text).ok_or(LlmError::Unreadable)?;
        without_key(&text, &self.key).ok_or(LlmError::Leaked)
    }

    fn request(&self, messages: &[ChatMessage]) -> Result<OutboundRequest, LlmError> {
        let request = CompletionRequest {
            model: &self.model,
            messages: messages.iter().map(MessageDocument::new).collect(),
            temperature: 0.0,
            max_tokens: limits::ANSWER_TOKENS_MAX,
            stream: false,
        };
        let body =
            serde_json::to_vec(&request).map_err(|error| LlmError::Request(error.to_string()))?;
        Ok(OutboundRequest {
            method: Method::POST,
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: Bytes::from(body),
            // Another host must not get the question.
            redirects: Redirects::Return,
            lane: Lane::Usual,
            body_use: BodyUse::Keep(limits::RESPONSE_BYTES_MAX),
            timeout: self.timeout,
        })
    }
}

/// Returns the beginning of an error of the server, in one line and without the key; `None` if a
/// part of the key would be in it.
fn shown(body: &[u8], key: &Secret) -> Option<String> {
    let message = without_key(&String::from_utf8_lossy(body), key)?;
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(message.chars().filter(|char| is_visible(*char)).take(limits::ERROR_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_without_the_key() {
        let key = Secret::from("planted0model0key".to_owned());
        let error = |body: &str| {
            let message = shown(body.as_bytes(), &key);
            LlmError::Refused { status: 500, message }.to_string()
        };
        let refused = "the language model responded with status 500";
        let body = "error for\nBearer planted0model0key";
        assert_eq!(error(body), format!("{refused}: error for Bearer …"));
        assert_eq!(error("planted0\u{200b}model0key"), refused);
        let cut = format!("{}planted0model0key", "x".repeat(limits::ERROR_CHARS_MAX - 9));
        assert!(!error(&cut).contains("planted"), "{}", error(&cut));
    }
}
