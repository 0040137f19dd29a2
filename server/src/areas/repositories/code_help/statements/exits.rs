//! Where control leaves a function.

use tree_sitter::Node;

use super::super::limits::{NODES_MAX, STEPS_MAX};
use super::super::syntax::{Text, end_line, start_line};
use super::caught::HandledBlock;
use super::model::{Action, Block, Exit, Failing, Shape, Tail};
use super::rules::Rules;
use crate::areas::repositories::source::LineRange;

/// The ways out of a function, each once, in their order.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Exits<'a> {
    pub(in super::super) returned: Vec<&'a str>,
    pub(in super::super) yielded: Vec<&'a str>,
    pub(in super::super) failures: Vec<(Failing, Option<&'a str>)>,
}

impl<'a> Exits<'a> {
    fn add(&mut self, exit: Exit<'a>) {
        match exit {
            Exit::Returns(value) => add(&mut self.returned, value),
            Exit::Yields(value) => add(&mut self.yielded, value),
            Exit::Fails(how, what) => add(&mut self.failures, (how, what)),
        }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.len() < STEPS_MAX && !list.contains(&item) {
        list.push(item);
    }
}

/// Finds the ways out of a function, without those of functions in it. Of a part of it: those that
/// begin in these lines.
pub(in super::super) fn exits<'a>(
    block: &Block<'_>,
    text: Text<'a>,
    rules: Rules,
    lines: Option<LineRange>,
) -> Exits<'a> {
    let is_asked = |node: Node<'_>| lines.is_none_or(|lines| lines.contains(start_line(node)));
    let mut found: Vec<(usize, Exit<'a>)> = Vec::new();
    let mut handled = Vec::new();
    for statement in &block.statements {
        visit(*statement, rules, |node| {
            if is_asked(node) {
                handled.extend(HandledBlock::of(node, text, rules));
            }
        });
    }
    for statement in &block.statements {
        visit(*statement, rules, |node| {
            if is_asked(node)
                && let Some(exit) = (rules.exit)(node, text)
                && !handled.iter().any(|block| block.catches(node, exit))
            {
                found.push((node.end_byte(), exit));
            }
        });
    }
    for node in tails(block, text, rules) {
        if !is_asked(node) {
            continue;
        }
        let exit = match (rules.shape)(node, text, Tail::Returned) {
            Shape::Action(Action::Return(Some(value)))
            | Shape::Long { whole: Action::Return(Some(value)), .. } => (rules.returned)(value),
            Shape::Action(action) if rules.assignments_are_values && action.is_assignment() => {
                Exit::Returns(text.of(node))
            }
            _ => continue,
        };
        found.push((node.end_byte(), exit));
    }
    found.sort_by_key(|(at, _)| *at);
    let mut exits = Exits::default();
    found.into_iter().for_each(|(_, exit)| exits.add(exit));
    exits
}

/// Returns the expressions whose value is that of the block.
fn tails<'t>(block: &Block<'t>, text: Text<'_>, rules: Rules) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut open = vec![block.clone()];
    for _ in 0..NODES_MAX {
        let Some(block) = open.pop() else { break };
        if block.tail != Tail::Returned {
            continue;
        }
        let Some(last) = block.statements.last() else { continue };
        match (rules.shape)(*last, text, Tail::Returned) {
            Shape::Action(_) | Shape::Long { .. } => found.push(*last),
            other => open.extend(other.into_blocks()),
        }
    }
    found
}

/// Visits a node and those in it, without functions in it.
pub(super) fn visit<'t>(root: Node<'t>, rules: Rules, mut see: impl FnMut(Node<'t>)) {
    let mut cursor = root.walk();
    for _ in 0..NODES_MAX {
        let node = cursor.node();
        let is_function = node.is_named() && (rules.function)(node).is_some();
        if node.is_named() && !is_function {
            see(node);
        }
        if !is_function && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Returns whether a node has a line of a range.
pub(in super::super) fn touches(node: Node<'_>, lines: LineRange) -> bool {
    start_line(node) <= lines.end() && lines.start() <= end_line(node)
}
