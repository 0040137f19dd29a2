//! Escapes of the Markdown dialects of chats, so that names and labels are shown as they are: no
//! hidden links, no mentions, no lost underscores.
//!
//! Marks that have a meaning only at the start of a line need none: each line of a message starts
//! with a word of ours or with [`BULLET`].

/// The start of a line about an alert.
pub(super) const BULLET: &str = "• ";

/// Escapes a character for chats of type B. `<` begins mentions and timestamps, `||` hides text.
pub(super) fn chat_b(character: char) -> Option<&'static str> {
    match character {
        '<' => Some("\\<"),
        '|' => Some("\\|"),
        '~' => Some("\\~"),
        '@' => Some("\\@"),
        _ => chat_c(character),
    }
}

/// Escapes a character for chats of type C.
pub(super) fn chat_c(character: char) -> Option<&'static str> {
    match character {
        '\\' => Some("\\\\"),
        '*' => Some("\\*"),
        '_' => Some("\\_"),
        '`' => Some("\\`"),
        '[' => Some("\\["),
        _ => None,
    }
}
