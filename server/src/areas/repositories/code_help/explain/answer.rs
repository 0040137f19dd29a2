//! The explanation of a file, or of lines of it.

use tree_sitter::Tree;

use super::super::docs::plain_name;
use super::super::error::InvalidLines;
use super::super::model::{Explanation, Outputs};
use super::super::publishable;
use super::super::statements::{Action, Block, Rules, Shape, Tail, exits, function_block, rules};
use super::super::syntax::{Text, named_children, parse, start_line};
use super::dependencies::{dependencies, identifiers};
use super::inputs::inputs;
use super::steps::steps;
use super::subject::{Subject, is_function, is_type};
use super::summary::summary;
use super::wording::{is_constructor, noun, sections, with_article};
use super::{members, outputs, plain_text};
use crate::areas::repositories::source::{FileOutline, Language, LineRange, Symbol};

/// Explains a file, or lines of it, from its syntax and comments. `outline` is the outline of
/// `text`.
pub fn explain(
    path: &str,
    text: &str,
    outline: &FileOutline,
    lines: Option<LineRange>,
) -> Result<Explanation, InvalidLines> {
    let line_count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if lines.is_some_and(|lines| lines.end() > line_count) {
        return Err(InvalidLines { line_count });
    }
    let (text, outline) = publishable::without_any_secret(text, outline);
    Ok(publishable::explanation(explanation(path, &text, &outline, lines)))
}

fn explanation(
    path: &str,
    text: &str,
    outline: &FileOutline,
    lines: Option<LineRange>,
) -> Explanation {
    let Some(language) = outline.language else {
        let why = "No grammar is known for it, so only its text is described.";
        return plain_text::explain(path, text, lines, why);
    };
    let Some(tree) = parse(language, text) else {
        let why = "It is beyond the limits of the parser, so only its text is described.";
        return plain_text::explain(path, text, lines, why);
    };
    let subject = lines.map_or(Subject::File, |lines| Subject::of(outline, text, lines));
    let code = Code { text: Text(text), outline, language, rules: rules(language), tree: &tree };
    let described = code.describe(subject);
    let mut summary = summary(path, text, outline, language, subject);
    if let Some(note) = described.note {
        summary = format!("{summary} {note}");
    }
    Explanation {
        summary,
        steps: described.steps,
        inputs: described.inputs,
        outputs: described.outputs,
        dependencies: dependencies(outline, language, subject, tree.root_node(), Text(text)),
    }
}

/// A file that was parsed.
struct Code<'a> {
    text: Text<'a>,
    outline: &'a FileOutline,
    language: Language,
    rules: Rules,
    tree: &'a Tree,
}

struct Described {
    steps: Vec<String>,
    inputs: Vec<super::super::model::Input>,
    outputs: Outputs,
    note: Option<&'static str>,
}

impl Code<'_> {
    fn describe(&self, subject: Subject<'_>) -> Described {
        match subject {
            Subject::File => Described {
                steps: self.file_steps(None),
                outputs: outputs::of_definitions("a file"),
                inputs: Vec::new(),
                note: None,
            },
            Subject::Lines(lines) => Described {
                steps: self.file_steps(Some(lines)),
                outputs: outputs::of_definitions("a part of a file"),
                inputs: Vec::new(),
                note: None,
            },
            Subject::Symbol(symbol) if is_function(symbol) => self.function(symbol, subject),
            Subject::Part(symbol, _) => self.function(symbol, subject),
            Subject::Symbol(symbol) => self.definition(symbol),
        }
    }

    fn function(&self, symbol: &Symbol, subject: Subject<'_>) -> Described {
        let sections = sections(self.language, symbol);
        let part = match subject {
            Subject::Part(_, lines) => Some(lines),
            _ => None,
        };
        let found = function_block(self.tree.root_node(), symbol, self.text, self.rules);
        let exits = found.as_ref().map(|(_, block)| exits(block, self.text, self.rules, part));
        let exits = exits.unwrap_or_default();
        let note = match &found {
            None => Some("It is declared here without a body."),
            Some((node, _)) if node.has_error() => {
                Some("Parts of it cannot be parsed; what is said of these may be wrong.")
            }
            Some(_) => None,
        };
        let mut steps =
            found.map(|(_, block)| steps(block, self.text, self.rules, part)).unwrap_or_default();
        if steps.is_empty() && note.is_none() && part.is_none() {
            steps.push("Does nothing: its body is empty.".to_owned());
        }
        let mut inputs = inputs(symbol, &sections);
        if let Some(lines) = part {
            let used = identifiers(self.tree.root_node(), self.text, lines);
            inputs.retain(|input| used.contains(plain_name(&input.name)));
        }
        Described {
            steps,
            inputs,
            outputs: outputs::of_function(symbol, subject, &sections, &exits),
            note,
        }
    }

    fn definition(&self, symbol: &Symbol) -> Described {
        let mut steps = members::of_type(self.outline, self.language, self.text.0, symbol);
        if steps.is_empty() {
            steps.push(members::sentence(self.language, self.text.0, symbol));
        }
        let what = with_article(noun(symbol.kind));
        let constructor = self.constructor(symbol).filter(|_| is_type(symbol));
        let inputs =
            constructor.map(|of| inputs(of, &sections(self.language, of))).unwrap_or_default();
        Described { steps, inputs, outputs: outputs::of_definitions(&what), note: None }
    }

    /// Returns the constructor of a class, in the languages that have them.
    fn constructor(&self, class: &Symbol) -> Option<&Symbol> {
        let position = members::position(self.outline, class);
        let mut members = self.outline.symbols.iter().filter(|of| of.parent == position);
        members.find(|of| is_function(of) && is_constructor(of))
    }

    /// Describes the definitions of a file, or of lines of it, and what it executes beside them.
    fn file_steps(&self, lines: Option<LineRange>) -> Vec<String> {
        let mut found = members::of_lines(self.outline, self.language, self.text.0, lines);
        let is_defined =
            |line: u32| self.outline.symbols.iter().any(|symbol| symbol.lines.contains(line));
        let executed = named_children(self.tree.root_node()).into_iter().filter(|node| {
            let shape = (self.rules.shape)(*node, self.text, Tail::Unused);
            let defines = match &shape {
                Shape::Action(Action::Import(_)) => lines.is_none(),
                Shape::Action(Action::Define { .. }) => true,
                // A list of constants, which are definitions.
                Shape::Inline(list) => list.statements.iter().any(|of| is_defined(start_line(*of))),
                _ => false,
            };
            !defines && !is_defined(start_line(*node))
        });
        let block = Block::unused(executed.collect());
        found.extend(steps(block, self.text, self.rules, lines));
        found
    }
}
