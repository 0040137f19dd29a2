//! Statements of JavaScript and TypeScript.

use tree_sitter::Node;

use super::super::syntax::{Text, child_of_kind, field, has_word, named_children};
use super::java::{case_body, counting};
use super::model::{
    Action, Block, Case, Condition, Exit, Failing, Handler, LongHead, LoopHead, Sense, Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: false };

fn function(node: Node<'_>) -> Option<Block<'_>> {
    match node.kind() {
        "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "generator_function"
        | "method_definition" => Some(block(field(node, "body")?)),
        "arrow_function" => {
            let body = field(node, "body")?;
            match body.kind() {
                "statement_block" => Some(block(body)),
                _ => Some(Block { statements: vec![body], tail: Tail::Returned }),
            }
        }
        _ => None,
    }
}

fn block(node: Node<'_>) -> Block<'_> {
    Block::unused(match node.kind() {
        "statement_block" | "program" => named_children(node),
        _ => vec![node],
    })
}

fn shape<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let inner = || node.named_child(0);
    let inner_text = || inner().map(|child| text.of(child));
    Shape::Action(match node.kind() {
        "expression_statement" => {
            return inner().map_or(Shape::Skip, |inner| expression(inner, text, tail));
        }
        "lexical_declaration" | "variable_declaration" => return declaration(node, text),
        "if_statement" => return branch(node, text),
        "for_statement" | "for_in_statement" | "while_statement" | "do_statement" => {
            return repetition(node, text);
        }
        "switch_statement" => return choice(node, text),
        "try_statement" => return attempt(node),
        "statement_block" => return Shape::Inline(block(node)),
        "labeled_statement" => {
            let body = field(node, "body").into_iter().collect();
            return Shape::Inline(Block::unused(body));
        }
        "export_statement" => {
            return match field(node, "declaration").or_else(|| field(node, "value")) {
                Some(inner) => shape(inner, text, tail),
                None => Shape::Skip,
            };
        }
        "return_statement" => match inner() {
            Some(value) => return result(value, text),
            None => Action::Return(None),
        },
        "throw_statement" => Action::Fail(Failing::Throws, inner_text()),
        "break_statement" => Action::Break(inner_text()),
        "continue_statement" => Action::Continue(inner_text()),
        "import_statement" => Action::Import(whole.trim_end_matches(';')),
        "function_declaration" | "generator_function_declaration" => define("function", node, text),
        "class_declaration" | "abstract_class_declaration" => define("class", node, text),
        "interface_declaration" => define("interface", node, text),
        "type_alias_declaration" => define("type", node, text),
        "enum_declaration" => define("enum", node, text),
        "method_definition" => define("method", node, text),
        "ERROR" => Action::Unparsed(whole),
        "empty_statement" | "debugger_statement" | "hash_bang_line" | "ambient_declaration" => {
            return Shape::Skip;
        }
        _ => return expression(node, text, tail),
    })
}

fn define<'a>(noun: &'static str, node: Node<'_>, text: Text<'a>) -> Action<'a> {
    Action::Define { noun, name: text.field(node, "name").unwrap_or_default() }
}

fn result<'a, 't>(value: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let whole = Action::Return(Some(text.of(value)));
    long_call(value, text, whole).unwrap_or(Shape::Action(whole))
}

fn expression<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let plain = |unused| Action::of_value(whole, tail, unused);
    Shape::Action(match node.kind() {
        "string" if tail == Tail::Unused => return Shape::Skip,
        "assignment_expression" => {
            let target = text.field(node, "left").unwrap_or_default();
            return match field(node, "right") {
                Some(value) => set(target, value, text),
                None => Shape::Skip,
            };
        }
        "augmented_assignment_expression" => augmented(node, text),
        "update_expression" => Action::Update(whole),
        "yield_expression" => Action::Yield(node.named_child(0).map(|child| text.of(child))),
        "unary_expression" if has_word(node, "delete") => {
            Action::Delete(text.field(node, "argument").unwrap_or_default())
        }
        "await_expression" => {
            let awaited = node.named_child(0).map_or(whole, |of| text.of(of));
            let plain = plain(Action::Await(awaited));
            return long_call(node, text, plain).unwrap_or(Shape::Action(plain));
        }
        "call_expression" => {
            let plain = plain(Action::Call(whole));
            return long_call(node, text, plain).unwrap_or(Shape::Action(plain));
        }
        "new_expression" => plain(Action::Call(whole)),
        _ => plain(Action::Evaluate(whole)),
    })
}

fn augmented<'a>(node: Node<'_>, text: Text<'a>) -> Action<'a> {
    let target = text.field(node, "left").unwrap_or_default();
    let value = text.field(node, "right").unwrap_or_default();
    match text.field(node, "operator") {
        Some("+=") => Action::Add { target, value },
        Some("-=") => Action::Subtract { target, value },
        Some("??=" | "||=") => Action::SetDefault { target, value },
        _ => Action::Update(text.of(node)),
    }
}

fn set<'a, 't>(target: &'a str, value: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    if matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function") {
        return Shape::Action(Action::Define { noun: "function", name: target });
    }
    if value.kind() == "class" {
        return Shape::Action(Action::Define { noun: "class", name: target });
    }
    let whole = Action::Set { target, value: text.of(value) };
    long_call(value, text, whole).unwrap_or(Shape::Action(whole))
}

fn declaration<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let declarators: Vec<_> = named_children(node)
        .into_iter()
        .filter(|child| child.kind() == "variable_declarator")
        .collect();
    if let [one] = declarators.as_slice() {
        let target = text.field(*one, "name").unwrap_or_default();
        return match field(*one, "value") {
            Some(value) => set(target, value, text),
            None => Shape::Action(Action::Declare(target)),
        };
    }
    match declarators.first().zip(declarators.last()) {
        Some((first, last)) => Shape::Action(Action::Declare(text.span(*first, *last))),
        None => Shape::Skip,
    }
}

/// Returns the function that a call is given as its last argument but one or as its last one.
fn given_function<'t>(call: Node<'t>) -> Option<Node<'t>> {
    let arguments = named_children(field(call, "arguments")?);
    let is_function =
        |of: &&Node<'_>| matches!(of.kind(), "arrow_function" | "function_expression");
    arguments.iter().rev().take(2).find(is_function).copied()
}

fn parameters<'a>(function: Node<'_>, text: Text<'a>) -> Option<&'a str> {
    if let Some(one) = text.field(function, "parameter") {
        return Some(one);
    }
    let list = text.field(function, "parameters")?;
    let inner = list.strip_prefix('(').and_then(|list| list.strip_suffix(')'))?.trim();
    (!inner.is_empty()).then_some(inner)
}

fn long_call<'a, 't>(node: Node<'t>, text: Text<'a>, whole: Action<'a>) -> Option<Shape<'a, 't>> {
    let call = if node.kind() == "await_expression" { node.named_child(0)? } else { node };
    if !matches!(call.kind(), "call_expression" | "new_expression") {
        return None;
    }
    let given = given_function(call)?;
    let callee = text.between(call.start_byte(), field(call, "arguments")?.start_byte());
    let head = LongHead::Call { callee, parameters: parameters(given, text) };
    Some(Shape::Long { whole, head, body: function(given)? })
}

fn condition<'a>(node: Node<'_>, name: &str, text: Text<'a>) -> &'a str {
    field(node, name).map(|condition| text.inner(condition)).unwrap_or_default()
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(then) = field(node, "consequence") else { return Shape::Skip };
    let otherwise = field(node, "alternative").and_then(|clause| clause.named_child(0));
    Shape::If {
        before: None,
        sense: Sense::If,
        condition: Condition::Holds(condition(node, "condition", text)),
        then: block(then),
        otherwise: otherwise.map(block),
    }
}

fn repetition<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body") else { return Shape::Skip };
    let head = match node.kind() {
        "for_in_statement" => LoopHead::ForEach {
            item: text.field(node, "left").unwrap_or_default(),
            of: text.field(node, "right").unwrap_or_default(),
        },
        "do_statement" => LoopHead::AgainWhile(condition(node, "condition", text)),
        "while_statement" => match condition(node, "condition", text) {
            "true" => LoopHead::Forever,
            condition => LoopHead::While(Condition::Holds(condition)),
        },
        _ => counting(text.between(node.start_byte(), body.start_byte())),
    };
    Shape::Loop { head, body: block(body), otherwise: None }
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let clauses = field(node, "body").map(named_children).unwrap_or_default();
    let cases = clauses.into_iter().map(|clause| {
        let value = field(clause, "value");
        let body = named_children(clause).into_iter().filter(|child| Some(*child) != value);
        let (body, end) = case_body(body.collect());
        let body = Block::unused(body);
        let patterns = value.map(|value| text.of(value)).into_iter().collect();
        Case { patterns, guard: None, body, end }
    });
    let cases = cases.collect();
    Shape::Match { subject: Some(condition(node, "value", text)), cases }
}

fn attempt<'a, 't>(node: Node<'t>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body").map(block) else { return Shape::Skip };
    let handler = field(node, "handler")
        .and_then(|clause| Some(Handler { of: None, body: block(field(clause, "body")?) }));
    let finally =
        field(node, "finalizer").and_then(|clause| child_of_kind(clause, "statement_block"));
    let finally = finally.map(block);
    Shape::Try { body, handlers: handler.into_iter().collect(), otherwise: None, finally }
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    let value = || node.named_child(0).map(|child| text.of(child));
    match node.kind() {
        "return_statement" => Some(returned(value()?)),
        "yield_expression" => Some(Exit::Yields(value()?)),
        "throw_statement" => Some(Exit::Fails(Failing::Throws, value())),
        _ => None,
    }
}

fn returned(value: &str) -> Exit<'_> {
    match value.starts_with("Promise.reject(") {
        true => Exit::Fails(Failing::Rejects, Some(value)),
        false => Exit::Returns(value),
    }
}
