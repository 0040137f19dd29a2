//! Headers of messages that the library does not know.

use lettre::message::header::{Header, HeaderName, HeaderValue};

/// `Auto-Submitted: auto-generated` (RFC 3834): no automatic replies, please.
#[derive(Clone, Debug)]
pub struct AutoSubmitted;

/// `List-Unsubscribe` (RFC 2369): the address where the reader ends the subscription. It must be a
/// URL without line breaks or angle brackets.
#[derive(Clone, Debug)]
pub struct ListUnsubscribe(pub String);

/// `List-Unsubscribe-Post: List-Unsubscribe=One-Click` (RFC 8058): a POST to that address does it.
#[derive(Clone, Debug)]
pub struct ListUnsubscribePost;

/// Why a header is not parsed: messages are only written.
#[derive(Debug, thiserror::Error)]
#[error("the header is only written")]
struct OnlyWritten;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

impl Header for ListUnsubscribe {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("List-Unsubscribe")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Err(Box::new(OnlyWritten))
    }

    fn display(&self) -> HeaderValue {
        // Not folded: mail programs expect the URL on one line.
        let value = format!("<{}>", self.0);
        HeaderValue::dangerous_new_pre_encoded(Self::name(), value.clone(), value)
    }
}

impl Header for ListUnsubscribePost {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("List-Unsubscribe-Post")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "List-Unsubscribe=One-Click".to_owned())
    }
}
