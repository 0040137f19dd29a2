//! The name of a symbol, as people write it.

/// What a symbol is looked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SymbolName<'a> {
    /// What comes before the name: `Container` in `Container::name`, `Container.name` and
    /// `Container#name`.
    pub(super) container: Option<&'a str>,
    pub(super) name: &'a str,
}

impl<'a> SymbolName<'a> {
    /// Parses a name; parentheses and an exclamation mark after it mean nothing.
    pub(super) fn parse(text: &'a str) -> Self {
        let text = text.trim().trim_end_matches("()").trim_end_matches('!');
        let mut parts = text.rsplit([':', '.', '#']).filter(|part| !part.is_empty());
        Self { name: parts.next().unwrap_or_default(), container: parts.next() }
    }
}
