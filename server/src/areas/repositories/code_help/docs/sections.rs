//! From the text of a comment to its sections.

use super::super::limits::DOC_BYTES_MAX;
use super::markup::plain;
use super::model::DocSections;
use super::reader::Reader;
use super::sentences::split_first;
use crate::areas::repositories::source::Language;

/// Finds the sections of a comment, which is without the markers of comments.
pub fn doc_sections(language: Language, doc: &str) -> DocSections {
    let doc = doc.get(..doc.floor_char_boundary(DOC_BYTES_MAX)).unwrap_or(doc);
    let mut reader = Reader::new(language);
    for line in doc.lines() {
        reader.read(line);
    }
    let (mut sections, paragraphs) = reader.finish();
    let mut paragraphs = paragraphs.into_iter().map(|paragraph| plain(&paragraph));
    let first = paragraphs.next().unwrap_or_default();
    // A list that follows belongs to the paragraph, not to the sentence.
    let (beginning, list) = match first.find('\n') {
        Some(at) => first.split_at_checked(at).unwrap_or((&first, "")),
        None => (first.as_str(), ""),
    };
    let (summary, rest) = split_first(beginning);
    sections.summary = summary.to_owned();
    let mut body = format!("{rest}{list}");
    for paragraph in paragraphs {
        if !body.is_empty() || !sections.summary.is_empty() {
            body.push_str("\n\n");
        }
        body.push_str(&paragraph);
    }
    sections.body = body;
    clean(&mut sections);
    sections
}

fn clean(sections: &mut DocSections) {
    let all = sections.parameters.iter_mut().chain(sections.returns.as_mut());
    for parameter in all {
        parameter.description = plain(&parameter.description);
    }
    for error in &mut sections.errors {
        error.description = plain(&error.description);
    }
}
