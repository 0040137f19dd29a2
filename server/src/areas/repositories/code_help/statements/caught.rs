//! Failures that a function handles itself: they are no way out of it.

use std::ops::Range;

use tree_sitter::Node;

use super::super::syntax::Text;
use super::exits::visit;
use super::model::{Exit, Failing, Shape, Tail};
use super::rules::Rules;

/// Types that all exceptions of a language have.
const ALL: [&str; 5] = ["Exception", "BaseException", "Throwable", "StandardError", "exception"];
/// Exceptions of Python that are none of its `Exception`.
const APART: [&str; 3] = ["KeyboardInterrupt", "SystemExit", "GeneratorExit"];

/// A block whose failures are handled.
#[derive(Debug)]
pub(super) struct HandledBlock<'a> {
    bytes: Range<usize>,
    handlers: Vec<BlockHandler<'a>>,
}

/// What is done about a failure.
#[derive(Debug)]
struct BlockHandler<'a> {
    /// The failures; `None` for all.
    of: Option<&'a str>,
    /// Whether it fails again with the same.
    passes_on: bool,
}

impl<'a> HandledBlock<'a> {
    /// Returns the block of a node, if that handles failures.
    pub(super) fn of(node: Node<'_>, text: Text<'a>, rules: Rules) -> Option<Self> {
        const KINDS: [&str; 5] = [
            "try_statement",
            "try_with_resources_statement",
            "begin",
            "body_statement",
            "rescue_modifier",
        ];
        if !KINDS.contains(&node.kind()) {
            return None;
        }
        let Shape::Try { body, handlers, .. } = (rules.shape)(node, text, Tail::Unused) else {
            return None;
        };
        let (first, last) = body.statements.first().zip(body.statements.last())?;
        let handlers = handlers.into_iter().map(|handler| {
            let mut passes_on = false;
            for statement in &handler.body.statements {
                visit(*statement, rules, |node| {
                    if let Some(Exit::Fails(Failing::Raises | Failing::Throws, what)) =
                        (rules.exit)(node, text)
                    {
                        passes_on |= what.is_none_or(is_variable);
                    }
                });
            }
            BlockHandler { of: handler.of, passes_on }
        });
        let handlers = handlers.collect();
        Some(Self { bytes: first.start_byte()..last.end_byte(), handlers })
    }

    /// Returns whether an exit at a node is a failure that is handled.
    pub(super) fn catches(&self, node: Node<'_>, exit: Exit<'_>) -> bool {
        let Exit::Fails(Failing::Raises | Failing::Throws, Some(what)) = exit else {
            return false;
        };
        let raised = type_of(what);
        self.bytes.contains(&node.start_byte())
            && self
                .handlers
                .iter()
                .find(|handler| handler.handles(raised))
                .is_some_and(|handler| !handler.passes_on)
    }
}

impl BlockHandler<'_> {
    fn handles(&self, raised: &str) -> bool {
        let Some(of) = self.of else { return true };
        let is_part = |char: char| !char.is_alphanumeric() && char != '_';
        of.split(is_part).any(|name| {
            name == raised && !name.is_empty() || ALL.contains(&name) && !APART.contains(&raised)
        })
    }
}

/// Returns the name of the type of what is raised: `KeyError("x")`, `new Error()`, `Error.new`.
fn type_of(what: &str) -> &str {
    let what = what.trim().trim_start_matches("new ");
    let name = what.split(['(', ',', ' ', '{', '\n']).next().unwrap_or_default();
    let name = name.trim_end_matches(".new");
    name.rsplit(['.', ':']).next().unwrap_or_default()
}

/// Returns whether what is raised is a variable, such as the failure that was caught.
fn is_variable(what: &str) -> bool {
    what.starts_with(|char: char| char.is_lowercase() || char == '_')
        && what.chars().all(|char| char.is_alphanumeric() || char == '_')
}
