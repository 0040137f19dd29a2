//! Examples in documentation: code, of which no line is a sentence.

/// Tags that begin an example, up to the next tag.
const TAGS: [&str; 3] = ["@example", "@code", "\\code"];
/// Headings of indented examples, in lower case, without the colon.
const HEADINGS: [&str; 6] = ["example", "examples", "usage", "for example", "e.g.", "doctest"];

/// Where the present line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Prose,
    /// In an example after a tag.
    Tagged,
    /// Between tags of HTML.
    Preformatted,
    /// Below a heading with this indentation.
    Indented(usize),
}

/// Returns a documentation with empty lines in the place of the examples in it. Fenced code is
/// kept: what reads sentences knows it.
pub(super) fn without_examples(doc: &str) -> String {
    let mut place = Place::Prose;
    let mut prose = String::with_capacity(doc.len());
    for line in doc.lines() {
        let text = line.trim();
        let indentation = line.len() - line.trim_start().len();
        let is_end = match place {
            Place::Prose => false,
            Place::Tagged => text.starts_with('@') || text.starts_with("\\end"),
            Place::Preformatted => text.contains("</pre>"),
            Place::Indented(heading) => !text.is_empty() && indentation <= heading,
        };
        if is_end {
            place = Place::Prose;
        }
        let heading = text.trim_end_matches(':').to_ascii_lowercase();
        let is_text = place == Place::Prose && !text.starts_with(">>>");
        if is_text && TAGS.iter().any(|tag| text.starts_with(tag)) {
            place = Place::Tagged;
        } else if is_text && text.starts_with("<pre") && !text.contains("</pre>") {
            place = Place::Preformatted;
        } else if is_text && text.ends_with(':') && HEADINGS.contains(&heading.as_str()) {
            place = Place::Indented(indentation);
        } else if is_text {
            prose.push_str(line);
        }
        prose.push('\n');
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_left_out() {
        for (doc, prose) in [
            ("Loads.\n@example\nload(1);\n\nload(2);\n@returns it", "Loads. @returns it"),
            ("Loads.\n\nExample:\n    load(1)\n\nMore.", "Loads. More."),
            ("Loads.\n>>> load(1)\nMore.", "Loads. More."),
            ("Loads.\n<pre>\nload(1)\n</pre>\nMore.", "Loads. </pre> More."),
            ("Example: it loads.", "Example: it loads."),
            ("Usage:\nIt loads.", "It loads."),
        ] {
            let words: Vec<String> =
                without_examples(doc).split_whitespace().map(str::to_owned).collect();
            assert_eq!(words.join(" "), prose, "{doc}");
        }
    }
}
