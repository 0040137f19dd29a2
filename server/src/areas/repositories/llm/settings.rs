//! The settings of the language model.

use crate::platform::sealing::Secret;
use crate::platform::settings::{Period, settings_section};

settings_section! {
    /// A language model that words answers about code. Without one, answers are put together from
    /// the code and its documentation.
    #[derive(Clone, Debug, PartialEq)]
    "llm" LlmSettings {
        /// The URL of a server with OpenAI's API, such as `https://api.example.com/v1`, to which
        /// `/chat/completions` is appended. It may be at any address. The best passages of a
        /// repository are sent to it with each question. `""` is none.
        base_url: String = "";
        /// The name of the model.
        model: String = "";
        /// The key that is sent as `Authorization: Bearer …`, if any.
        api_key: Secret = "";
        /// How long it may take to answer. After that the answer is put together without it.
        timeout: Period = "30s";
    }
}
