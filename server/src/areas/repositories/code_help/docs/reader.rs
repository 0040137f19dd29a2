//! The reading of a comment, line by line.

use super::super::limits::{DOC_ITEMS_MAX, EXAMPLE_LINES_MAX};
use super::items::{bare_name, is_name, item};
use super::model::{DocError, DocParameter, DocSections};
use super::tags::{Tag, inner_tag, tag};
use crate::areas::repositories::source::Language;

/// The section to which a line belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Body,
    Parameters,
    Returns,
    Errors,
    Examples,
    /// One that says nothing of how the code is used.
    Other,
}

/// How the present section was opened, and thereby what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    /// By a heading: the next heading ends it.
    Heading,
    /// By a word with a colon: a line that is indented no more than it ends it.
    Word { indent: usize },
    /// By a tag: an empty line or the next tag ends it.
    Tag,
}

/// A reader of a comment.
#[derive(Debug)]
pub(super) struct Reader {
    language: Language,
    sections: DocSections,
    paragraphs: Vec<String>,
    paragraph: String,
    section: Section,
    opened: Opened,
    /// The characters that open and close the present code block.
    fence: Option<(&'static str, bool)>,
    /// Whether the present code is a doctest or indented, not between fences.
    is_open_code: bool,
    code: Vec<String>,
    /// Lines of a section of examples that are not marked as code.
    unmarked: Vec<String>,
    item_indent: usize,
    was_empty: bool,
}

impl Reader {
    pub(super) fn new(language: Language) -> Self {
        Self {
            language,
            sections: DocSections::default(),
            paragraphs: Vec::new(),
            paragraph: String::new(),
            section: Section::Body,
            opened: Opened::Heading,
            fence: None,
            is_open_code: false,
            code: Vec::new(),
            unmarked: Vec::new(),
            item_indent: 0,
            was_empty: true,
        }
    }

    /// Reads a line, which may have several tags in it.
    pub(super) fn read(&mut self, line: &str) {
        let text = line.trim();
        if self.reads_code(line, text) {
            return;
        }
        let mut rest = line;
        while let Some((before, tagged)) = inner_tag(self.language, rest) {
            self.read_part(before);
            rest = tagged;
        }
        self.read_part(rest);
    }

    /// Reads a line that is no code, or the part of it up to a tag.
    fn read_part(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            self.read_empty();
            self.was_empty = true;
            return;
        }
        if self.is_underline(text) {
            return;
        }
        let indent = indentation(line);
        if let Opened::Word { indent: of } = self.opened
            && self.section != Section::Body
            && indent <= of
        {
            self.open(Section::Body, Opened::Heading);
        }
        match self.heading(text, indent) {
            Some((section, opened, rest)) => {
                self.open(section, opened);
                if !rest.is_empty() {
                    self.content(rest, indent + 1);
                }
            }
            None => match tag(text) {
                Some(tag) => self.tag(tag),
                None => self.content(line, indent),
            },
        }
        self.was_empty = false;
    }

    /// Returns the sections, and the paragraphs of prose.
    pub(super) fn finish(mut self) -> (DocSections, Vec<String>) {
        self.end_code();
        self.open(Section::Body, Opened::Heading);
        self.end_paragraph();
        self.paragraphs.retain(|paragraph| !paragraph.is_empty());
        self.sections.errors.retain(|error| {
            let name = error.name.as_deref().unwrap_or_default();
            !is_never(&joined(name, &error.description))
        });
        (self.sections, self.paragraphs)
    }

    /// Reads a line of code; returns whether it is one.
    fn reads_code(&mut self, line: &str, text: &str) -> bool {
        if let Some((fence, is_example)) = self.fence {
            if text.starts_with(fence) {
                self.fence = None;
                if is_example {
                    self.end_code();
                }
                self.code.clear();
            } else {
                self.code.push(line.to_owned());
            }
            return true;
        }
        if self.is_open_code {
            let goes_on = match self.code.first().map(|first| first.trim_start()) {
                Some(first) if first.starts_with(">>>") => !text.is_empty(),
                Some(_) => text.is_empty() || indentation(line) >= self.code_indent(),
                None => false,
            };
            if goes_on {
                self.code.push(line.to_owned());
                return true;
            }
            self.end_code();
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence)) {
            let info = text.trim_start_matches(['`', '~']).trim();
            // A text or a picture is no example.
            let is_example = !["text", "plain", "mermaid", "console", "txt"].contains(&info);
            self.fence = Some((fence, is_example));
            return true;
        }
        let is_indented = self.section == Section::Body
            && self.was_empty
            && !text.is_empty()
            && !(self.paragraphs.is_empty() && self.paragraph.is_empty())
            && indentation(line) >= self.code_indent()
            && tag(text).is_none();
        if text.starts_with(">>>") || is_indented {
            // `For example:` says nothing without the code.
            let lead = self.paragraph.trim_end_matches(':').to_ascii_lowercase();
            if matches!(lead.as_str(), "for example" | "example" | "examples" | "usage" | "e.g.") {
                self.paragraph.clear();
            }
            let last = self.paragraphs.last().map(|last| last.trim_end_matches(':'));
            if last.is_some_and(|last| last.eq_ignore_ascii_case("for example")) {
                self.paragraphs.pop();
            }
            self.end_paragraph();
            self.is_open_code = true;
            self.code.push(line.to_owned());
            return true;
        }
        false
    }

    /// Returns by how many spaces code is indented.
    fn code_indent(&self) -> usize {
        match self.language {
            Language::Ruby => 2,
            Language::Go => 1,
            _ => 4,
        }
    }

    fn end_code(&mut self) {
        self.is_open_code = false;
        let mut lines = std::mem::take(&mut self.code);
        if self.language == Language::Rust {
            // Lines that rustdoc does not show.
            lines.retain(|line| line.trim() != "#" && !line.trim_start().starts_with("# "));
        }
        self.add_example(&lines);
    }

    fn add_example(&mut self, lines: &[String]) {
        let shown = lines.get(..EXAMPLE_LINES_MAX).unwrap_or(lines);
        let indents = shown.iter().filter(|line| !line.trim().is_empty());
        let common = indents.map(|line| indentation(line)).min().unwrap_or(0);
        let dedented = shown.iter().map(|line| line.get(common..).unwrap_or_default().trim_end());
        let text = dedented.collect::<Vec<_>>().join("\n");
        let text = text.trim_matches('\n');
        if !text.trim().is_empty() && self.sections.examples.len() < DOC_ITEMS_MAX {
            self.sections.examples.push(text.to_owned());
            self.unmarked.clear();
        }
    }

    fn read_empty(&mut self) {
        match self.section {
            Section::Body => self.end_paragraph(),
            Section::Examples => self.unmarked.push(String::new()),
            _ if self.opened == Opened::Tag => self.open(Section::Body, Opened::Heading),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            self.paragraphs.push(std::mem::take(&mut self.paragraph));
        }
    }

    /// Returns whether a line only underlines the one before it.
    fn is_underline(&self, text: &str) -> bool {
        let first = text.chars().next().unwrap_or(' ');
        "=-~".contains(first) && text.len() >= 3 && text.chars().all(|char| char == first)
    }

    fn open(&mut self, section: Section, opened: Opened) {
        self.end_paragraph();
        let unmarked = std::mem::take(&mut self.unmarked);
        // Under a heading, what is not marked as code is prose.
        if self.opened != Opened::Heading {
            self.add_example(&unmarked);
        }
        (self.section, self.opened) = (section, opened);
        self.item_indent = 0;
    }

    /// Returns the section that a line opens, and what follows on the same line.
    fn heading<'l>(&self, text: &'l str, indent: usize) -> Option<(Section, Opened, &'l str)> {
        let marked = text.trim_start_matches('#');
        let is_markdown = marked.len() < text.len() && marked.starts_with(' ');
        let rdoc = text.trim_start_matches('=');
        let is_rdoc = self.language == Language::Ruby && rdoc.len() < text.len();
        if is_markdown || is_rdoc {
            let title = if is_markdown { marked } else { rdoc }.trim().trim_end_matches(':');
            let section = section(title).unwrap_or(Section::Body);
            return Some((section, Opened::Heading, ""));
        }
        let bold = text.strip_prefix("**").and_then(|text| text.strip_suffix("**"));
        if let Some((word, rest)) = bold.unwrap_or(text).split_once(':')
            && let Some(section) = section(word)
            && (rest.is_empty() || rest.starts_with(' ') && section == Section::Returns)
        {
            return Some((section, Opened::Word { indent }, rest.trim()));
        }
        let is_bare = self.language == Language::Python && self.was_empty && indent == 0;
        let section = section(text).filter(|_| is_bare)?;
        Some((section, Opened::Heading, ""))
    }

    fn tag(&mut self, tag: Tag) {
        let section = match &tag {
            Tag::Parameter(_) | Tag::ParameterType(_) => Section::Parameters,
            Tag::Returns(_) | Tag::ReturnType(_) => Section::Returns,
            Tag::Error(_) => Section::Errors,
            Tag::Example(_) => Section::Examples,
            Tag::Brief(_) => Section::Body,
            Tag::Other => Section::Other,
        };
        self.open(section, Opened::Tag);
        match tag {
            Tag::Parameter(parameter) => self.add_parameter(parameter),
            Tag::ParameterType(typed) => {
                let known = self.sections.parameters.iter_mut().find(|of| of.name == typed.name);
                match known {
                    Some(parameter) => parameter.type_name = typed.type_name,
                    None => self.add_parameter(typed),
                }
            }
            Tag::Returns(returns) => match &mut self.sections.returns {
                Some(known) => {
                    let type_name = known.type_name.take().or(returns.type_name);
                    let description = joined(&known.description, &returns.description);
                    *known = DocParameter { name: String::new(), type_name, description };
                }
                none => *none = Some(returns),
            },
            Tag::ReturnType(type_name) => {
                let type_name = Some(type_name).filter(|of| !of.is_empty());
                self.sections.returns.get_or_insert_default().type_name = type_name;
            }
            Tag::Error(error) if self.sections.errors.len() < DOC_ITEMS_MAX => {
                self.sections.errors.push(error);
            }
            Tag::Example(rest) if !rest.is_empty() => self.unmarked.push(rest),
            Tag::Brief(rest) => append(&mut self.paragraph, &rest),
            Tag::Error(_) | Tag::Example(_) | Tag::Other => {}
        }
    }

    fn add_parameter(&mut self, parameter: DocParameter) {
        if self.sections.parameters.len() < DOC_ITEMS_MAX {
            self.sections.parameters.push(parameter);
        }
    }

    /// Reads a line of the present section.
    fn content(&mut self, line: &str, indent: usize) {
        let text = line.trim();
        match self.section {
            Section::Body => {
                let is_item = ["- ", "* ", "+ ", "• "].iter().any(|mark| text.starts_with(mark));
                if is_item && !self.paragraph.is_empty() {
                    self.paragraph.push('\n');
                    self.paragraph.push_str(text);
                } else {
                    append(&mut self.paragraph, text);
                }
            }
            Section::Parameters => self.parameter_line(line, text, indent),
            Section::Returns => {
                let returns = self.sections.returns.get_or_insert_default();
                append(&mut returns.description, text);
            }
            Section::Errors => self.error_line(text, indent),
            Section::Examples => self.unmarked.push(line.to_owned()),
            Section::Other => {}
        }
    }

    fn parameter_line(&mut self, line: &str, text: &str, indent: usize) {
        let is_first = self.item_indent == 0 && self.opened != Opened::Tag;
        let is_item_place = is_first || indent < self.item_indent;
        let found = match (self.opened, item(line)) {
            (Opened::Tag, _) => None,
            (_, Some(found)) if is_item_place => Some(found),
            (Opened::Heading, None) if is_item_place => bare_name(line),
            _ => None,
        };
        match found {
            Some(parameter) => {
                self.item_indent = indent + 1;
                self.add_parameter(parameter);
            }
            None => {
                if let Some(last) = self.sections.parameters.last_mut() {
                    append(&mut last.description, text);
                }
            }
        }
    }

    fn error_line(&mut self, text: &str, indent: usize) {
        let is_item_place =
            self.opened != Opened::Tag && (self.item_indent == 0 || indent < self.item_indent);
        let named = item(text).filter(|of| is_type(&of.name)).map(|of| (of.name, of.description));
        let bare = (self.opened == Opened::Heading && is_type(text))
            .then(|| (text.to_owned(), String::new()));
        match named.or(bare).filter(|_| is_item_place) {
            Some((name, description)) if self.sections.errors.len() < DOC_ITEMS_MAX => {
                self.item_indent = indent + 1;
                self.sections.errors.push(DocError { name: Some(name), description });
            }
            _ if is_item_place && self.item_indent == 0 => {
                // A paragraph, or one that goes on.
                self.item_indent = usize::MAX;
                let description = text.to_owned();
                self.sections.errors.push(DocError { name: None, description });
            }
            _ => {
                if let Some(last) = self.sections.errors.last_mut() {
                    append(&mut last.description, text);
                }
            }
        }
    }
}

/// Returns whether a text says that nothing fails.
fn is_never(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!']).to_ascii_lowercase();
    let text = text.trim_start_matches("this ").trim_start_matches("function ");
    const NEVER: [&str; 9] = [
        "never",
        "none",
        "nothing",
        "n/a",
        "infallible",
        "no errors",
        "never fails",
        "does not fail",
        "cannot fail",
    ];
    NEVER.contains(&text)
}

fn is_type(name: &str) -> bool {
    is_name(name) && name.chars().any(char::is_uppercase)
}

/// Returns the section that a title names.
fn section(title: &str) -> Option<Section> {
    Some(match title.trim().to_ascii_lowercase().as_str() {
        "args" | "arguments" | "parameters" | "params" | "keyword args" | "keyword arguments"
        | "other parameters" | "options" => Section::Parameters,
        "returns" | "return" | "return value" | "return values" | "yields" => Section::Returns,
        "raises" | "throws" | "errors" | "error" | "exceptions" | "panics" => Section::Errors,
        "example" | "examples" | "usage" => Section::Examples,
        "attributes" | "see also" | "references" | "todo" | "warnings" | "safety" => Section::Other,
        "note" | "notes" => Section::Body,
        _ => return None,
    })
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn joined(left: &str, right: &str) -> String {
    let mut both = left.to_owned();
    append(&mut both, right);
    both
}

fn append(to: &mut String, text: &str) {
    if !to.is_empty() && !text.is_empty() {
        to.push(' ');
    }
    to.push_str(text);
}
