//! The sections of a comment.

/// The sections of a comment. Text of one paragraph is in one line; what is not there is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocSections {
    /// The first sentence.
    pub summary: String,
    /// The prose after the first sentence, paragraphs with an empty line between them, items of
    /// lists on lines of their own.
    pub body: String,
    /// The parameters.
    pub parameters: Vec<DocParameter>,
    /// What is returned or yielded.
    pub returns: Option<DocParameter>,
    /// How it fails.
    pub errors: Vec<DocError>,
    /// Blocks of code, with their line breaks and without their indentation.
    pub examples: Vec<String>,
}

/// What a comment says of a parameter, or of the result if the name is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocParameter {
    /// The name.
    pub name: String,
    /// The type.
    pub type_name: Option<String>,
    /// What it is.
    pub description: String,
}

/// What a comment says of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocError {
    /// The type of the error or exception.
    pub name: Option<String>,
    /// When it occurs.
    pub description: String,
}

impl DocSections {
    /// Returns the first sentence and the prose after it.
    pub fn prose(&self) -> String {
        match self.body.as_str() {
            "" => self.summary.clone(),
            body if body.starts_with('\n') => format!("{}{body}", self.summary),
            body => format!("{} {body}", self.summary),
        }
    }

    /// Returns what is said of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&DocParameter> {
        let plain = plain_name(name);
        self.parameters.iter().find(|of| !plain.is_empty() && plain_name(&of.name) == plain)
    }
}

/// Returns a name without what languages write around it: `*args`, `...rest`, `mut n`, `key:`.
pub(in super::super) fn plain_name(name: &str) -> &str {
    let name = name.trim().trim_start_matches("mut ");
    name.trim_matches(|char: char| !(char.is_alphanumeric() || char == '_' || char == '$'))
}
