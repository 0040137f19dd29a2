//! Explanations and documentation as text, for comparison.

use super::super::{Documentation, Explanation, Usage, document, explain};
use crate::areas::repositories::source::{LineRange, outline};

/// Explains lines of a file.
#[track_caller]
pub(super) fn explained(path: &str, text: &str, lines: Option<(u32, u32)>) -> Explanation {
    let lines = lines.map(|(start, end)| LineRange::new(start, end).unwrap());
    explain(path, text, &outline(path, text), lines).unwrap()
}

/// Explains the function of a name.
#[track_caller]
pub(super) fn explained_symbol(path: &str, text: &str, name: &str) -> Explanation {
    let outline = outline(path, text);
    let symbol = outline.symbols.iter().find(|symbol| symbol.name == name).unwrap();
    explain(path, text, &outline, Some(symbol.lines)).unwrap()
}

/// Documents a file.
pub(super) fn documented(path: &str, text: &str, usages: &[Usage]) -> Documentation {
    document(path, text, &outline(path, text), usages)
}

/// Returns an explanation as text: summary, steps, inputs, success, failure, dependencies.
pub(super) fn told(explanation: &Explanation) -> String {
    let mut told = format!("{}\n", explanation.summary);
    for step in &explanation.steps {
        told += &format!("  {step}\n");
    }
    for input in &explanation.inputs {
        told += &format!("in {}: {} | {}\n", input.name, input.type_name, input.description);
    }
    told += &format!("success: {}\n", explanation.outputs.success);
    told += &format!("failure: {}\n", explanation.outputs.failure);
    told + &format!("uses: {}\n", explanation.dependencies.join(", "))
}

/// Returns documentation as text.
pub(super) fn listed(documentation: &Documentation) -> String {
    let mut listed = format!("{}\n", documentation.overview);
    for method in &documentation.methods {
        listed += &format!("{}: {}\n", method.name, method.description);
        for of in &method.parameters {
            listed += &format!("  in {}: {} | {}\n", of.name, of.type_name, of.description);
        }
        for example in &method.examples {
            listed += &format!("  e.g. {}\n", example.replace('\n', "\n       "));
        }
    }
    for example in &documentation.usage_examples {
        listed += &format!("usage: {}\n", example.replace('\n', "\n       "));
    }
    listed
}

/// Returns the code between backticks, as Markdown delimits it.
pub(super) fn code_spans(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let run = |from: usize| chars[from..].iter().take_while(|char| **char == '`').count();
    let (mut at, mut spans) = (0, Vec::new());
    while at < chars.len() {
        let length = run(at);
        if length == 0 {
            at += 1;
            continue;
        }
        let mut end = at + length;
        while end < chars.len() && run(end) != length {
            end += run(end).max(1);
        }
        if end < chars.len() {
            spans.push(chars[at + length..end].iter().collect());
            at = end + length;
        } else {
            at += length;
        }
    }
    spans
}

/// Asserts that all code that is shown is in the file, but for white space and the markers at the
/// beginnings of lines of comments.
#[track_caller]
pub(super) fn assert_verbatim(text: &str, said: &[&str]) {
    let bare = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
    let code = bare(text);
    let comments: String = text
        .lines()
        .map(|line| bare(line.trim().trim_start_matches(['/', '*', '#', '!'])))
        .collect();
    for said in said {
        for span in code_spans(said) {
            let bare = bare(&span);
            assert!(
                code.contains(&bare) || comments.contains(&bare),
                "{span:?} of {said:?} is not in the file"
            );
        }
    }
}

/// Returns everything that an explanation says in sentences.
pub(super) fn sentences(explanation: &Explanation) -> Vec<&str> {
    let outputs = [&explanation.outputs.success, &explanation.outputs.failure];
    let inputs = explanation.inputs.iter().map(|input| &input.description);
    let all = [&explanation.summary].into_iter().chain(&explanation.steps).chain(inputs);
    all.chain(outputs).map(String::as_str).collect()
}
