//! Statements of Rust.

use tree_sitter::Node;

use super::super::excerpt::fits;
use super::super::syntax::{Text, child_of_kind, field, has_word, named_children};
use super::model::{
    Action, Block, Case, CaseEnd, Condition, Exit, Failing, LongHead, LoopHead, Sense, Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: false };

/// Macros that end the thread.
const PANICS: [&str; 4] = ["panic", "unreachable", "todo", "unimplemented"];
/// Macros that check a condition.
const CHECKS: [&str; 6] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne"];

fn function(node: Node<'_>) -> Option<Block<'_>> {
    match node.kind() {
        "function_item" | "closure_expression" | "async_block" => {
            let body = field(node, "body").or_else(|| child_of_kind(node, "block"))?;
            Some(block(body, Tail::Returned))
        }
        _ => None,
    }
}

/// Returns the statements of a block, or an expression in its place.
fn block(node: Node<'_>, tail: Tail) -> Block<'_> {
    let statements = match node.kind() {
        "block" => named_children(node),
        _ => vec![node],
    };
    // The value of a statement with a semicolon is not used, but for those that are blocks.
    let is_statement = |last: &Node<'_>| {
        last.kind() == "expression_statement" && has_semicolon(*last)
            || last.kind() == "let_declaration"
    };
    let is_used = !statements.last().is_some_and(is_statement);
    Block { statements, tail: if is_used { tail } else { Tail::Unused } }
}

fn has_semicolon(statement: Node<'_>) -> bool {
    has_word(statement, ";")
}

fn shape<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let action = |action| Shape::Action(action);
    match node.kind() {
        "expression_statement" => match node.named_child(0) {
            Some(inner) => shape(inner, text, tail),
            None => Shape::Skip,
        },
        "let_declaration" => binding(node, text),
        "if_expression" => branch(node, text, tail),
        "match_expression" => choice(node, text, tail),
        "for_expression" => repetition(
            node,
            LoopHead::ForEach {
                item: text.field(node, "pattern").unwrap_or_default(),
                of: text.field(node, "value").unwrap_or_default(),
            },
        ),
        "while_expression" => repetition(node, LoopHead::While(condition(node, text))),
        "loop_expression" => repetition(node, LoopHead::Forever),
        "block" => Shape::Inline(block(node, tail)),
        "unsafe_block" | "const_block" | "gen_block" => match child_of_kind(node, "block") {
            Some(body) => Shape::Inline(block(body, tail)),
            None => Shape::Skip,
        },
        "return_expression" => match node.named_child(0) {
            Some(value) if is_choice(value) => shape(value, text, Tail::Returned),
            value => action(Action::Return(value.map(|value| text.of(value)))),
        },
        "break_expression" => action(Action::Break(rest(node, text))),
        "continue_expression" => action(Action::Continue(rest(node, text))),
        "assignment_expression" => assignment(node, text),
        "compound_assignment_expr" => compound_assignment(node, text),
        "macro_invocation" => action(macro_call(node, text, tail)),
        "await_expression" => {
            let awaited = node.named_child(0).map_or(whole, |of| text.of(of));
            action(Action::of_value(whole, tail, Action::Await(awaited)))
        }
        "call_expression" | "try_expression" => {
            let plain = Action::of_value(whole, tail, Action::Call(whole));
            long_call(node, text, plain).unwrap_or(action(plain))
        }
        "use_declaration" => match field(node, "argument") {
            Some(path) => action(Action::Import(text.of(path))),
            None => Shape::Skip,
        },
        "ERROR" => action(Action::Unparsed(whole)),
        kind => match definition(kind) {
            Some(noun) => match text.field(node, "name").or_else(|| text.field(node, "type")) {
                Some(name) => action(Action::Define { noun, name }),
                None => Shape::Skip,
            },
            None if is_no_statement(kind) => Shape::Skip,
            None => action(Action::of_value(whole, tail, Action::Evaluate(whole))),
        },
    }
}

fn definition(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "function_item" | "function_signature_item" => "function",
        "struct_item" => "struct",
        "enum_item" => "enum",
        "union_item" => "union",
        "trait_item" => "trait",
        "impl_item" => "implementation of",
        "mod_item" => "module",
        "type_item" => "type",
        "const_item" => "constant",
        "static_item" => "variable",
        "macro_definition" => "macro",
        _ => return None,
    })
}

fn is_no_statement(kind: &str) -> bool {
    matches!(
        kind,
        "attribute_item" | "inner_attribute_item" | "empty_statement" | "extern_crate_declaration"
    )
}

fn is_choice(node: Node<'_>) -> bool {
    matches!(node.kind(), "match_expression" | "if_expression" | "block" | "unsafe_block")
}

fn binding<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let target = text.field(node, "pattern").unwrap_or_default();
    let Some(value) = field(node, "value") else {
        return Shape::Action(Action::Declare(target));
    };
    if let Some(otherwise) = field(node, "alternative") {
        let otherwise = block(otherwise, Tail::Unused);
        return Shape::BindOrElse { pattern: target, value: text.of(value), otherwise };
    }
    set(target, value, text)
}

fn set<'a, 't>(target: &'a str, value: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let whole = Action::Set { target, value: text.of(value) };
    if is_choice(value) || value.kind() == "loop_expression" {
        let body = Block { statements: vec![value], tail: Tail::Value };
        return Shape::Long { whole, head: LongHead::Value, body };
    }
    long_call(value, text, whole).unwrap_or(Shape::Action(whole))
}

fn assignment<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let target = text.field(node, "left").unwrap_or_default();
    match field(node, "right") {
        // `_ = f()` is done for what it does.
        Some(value) if target == "_" => Shape::Action(Action::Call(text.of(value))),
        Some(value) => set(target, value, text),
        None => Shape::Action(Action::Evaluate(text.of(node))),
    }
}

fn compound_assignment<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let target = text.field(node, "left").unwrap_or_default();
    let value = text.field(node, "right").unwrap_or_default();
    Shape::Action(match text.field(node, "operator") {
        Some("+=") => Action::Add { target, value },
        Some("-=") => Action::Subtract { target, value },
        _ => Action::Update(text.of(node)),
    })
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let Some(then) = field(node, "consequence") else { return Shape::Skip };
    let otherwise = field(node, "alternative").and_then(|clause| clause.named_child(0));
    Shape::If {
        before: None,
        sense: Sense::If,
        condition: condition(node, text),
        then: block(then, tail),
        otherwise: otherwise.map(|otherwise| block(otherwise, tail)),
    }
}

fn condition<'a>(node: Node<'_>, text: Text<'a>) -> Condition<'a> {
    let Some(condition) = field(node, "condition") else { return Condition::Holds("") };
    if condition.kind() == "let_condition"
        && let Some((pattern, value)) =
            text.field(condition, "pattern").zip(text.field(condition, "value"))
    {
        return Condition::Matches { value, pattern };
    }
    Condition::Holds(text.of(condition))
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let arms = field(node, "body").map(named_children).unwrap_or_default();
    let cases = arms.into_iter().filter_map(|arm| {
        let pattern = field(arm, "pattern")?;
        let guard = field(pattern, "condition");
        let end = guard.map_or(pattern.end_byte(), |guard| guard.start_byte());
        let written = text.between(pattern.start_byte(), end);
        let written = written.strip_suffix("if").unwrap_or(written).trim();
        let patterns = if written == "_" && guard.is_none() { Vec::new() } else { vec![written] };
        let guard = guard.map(|guard| text.of(guard));
        let body = block(field(arm, "value")?, tail);
        Some(Case { patterns, guard, body, end: CaseEnd::Leaves })
    });
    Shape::Match { subject: text.field(node, "value"), cases: cases.collect() }
}

fn repetition<'a, 't>(node: Node<'t>, head: LoopHead<'a>) -> Shape<'a, 't> {
    match field(node, "body") {
        Some(body) => Shape::Loop { head, body: block(body, Tail::Unused), otherwise: None },
        None => Shape::Skip,
    }
}

/// Returns a call that is given a closure, if that closure consists of statements.
fn long_call<'a, 't>(node: Node<'t>, text: Text<'a>, whole: Action<'a>) -> Option<Shape<'a, 't>> {
    let call = match node.kind() {
        "try_expression" | "await_expression" => node.named_child(0)?,
        _ => node,
    };
    let arguments = named_children(field(call, "arguments")?);
    let closure = *arguments.last().filter(|last| last.kind() == "closure_expression")?;
    let callee = text.field(call, "function")?;
    let parameters =
        field(closure, "parameters").map(|list| text.of(list).trim_matches('|').trim());
    let parameters = parameters.filter(|list| !list.is_empty() && *list != "_");
    let body = function(closure)?;
    Some(Shape::Long { whole, head: LongHead::Call { callee, parameters }, body })
}

fn macro_name<'a>(node: Node<'_>, text: Text<'a>) -> &'a str {
    let name = text.field(node, "macro").unwrap_or_default();
    name.rsplit("::").next().unwrap_or(name)
}

fn macro_call<'a>(node: Node<'_>, text: Text<'a>, tail: Tail) -> Action<'a> {
    let whole = text.of(node);
    let name = macro_name(node, text);
    match name {
        _ if PANICS.contains(&name) => Action::Fail(Failing::Panics, Some(whole)),
        "bail" => Action::Fail(Failing::Returns, Some(whole)),
        _ if CHECKS.contains(&name) => Action::Assert(whole),
        _ => Action::of_value(whole, tail, Action::Call(whole)),
    }
}

/// Returns the label or value of `break` or `continue`.
fn rest<'a>(node: Node<'_>, text: Text<'a>) -> Option<&'a str> {
    node.named_child(0).map(|child| text.of(child))
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    match node.kind() {
        "return_expression" => {
            let value = node.named_child(0)?;
            (!is_choice(value)).then(|| returned(text.of(value)))
        }
        "try_expression" => {
            let tried = node.named_child(0)?;
            // Arguments that do not fit in a sentence say less than the function.
            let called = field(tried, "function").filter(|_| !fits(text.of(tried)));
            let shown = text.of(called.unwrap_or(tried));
            Some(Exit::Fails(Failing::PassesOn, Some(shown)))
        }
        "yield_expression" => Some(Exit::Yields(text.of(node.named_child(0)?))),
        "macro_invocation" => match macro_call(node, text, Tail::Unused) {
            Action::Fail(how, what) => Some(Exit::Fails(how, what)),
            Action::Assert(what) => Some(Exit::Fails(Failing::Asserts, Some(what))),
            _ if macro_name(node, text) == "ensure" => {
                Some(Exit::Fails(Failing::Returns, Some(text.of(node))))
            }
            _ => None,
        },
        "call_expression" => {
            let called = field(node, "function")?;
            let name = text.field(called, "field")?;
            let panics = called.kind() == "field_expression"
                && matches!(name, "unwrap" | "expect" | "unwrap_err" | "expect_err");
            panics.then(|| Exit::Fails(Failing::Panics, Some(text.of(node))))
        }
        _ => None,
    }
}

fn returned(value: &str) -> Exit<'_> {
    if value.starts_with("Err(") {
        Exit::Fails(Failing::Returns, Some(value))
    } else if PANICS
        .iter()
        .any(|name| value.strip_prefix(name).is_some_and(|rest| rest.starts_with('!')))
    {
        Exit::Fails(Failing::Panics, Some(value))
    } else {
        Exit::Returns(value)
    }
}
