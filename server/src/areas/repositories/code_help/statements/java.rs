//! Statements of Java.

use tree_sitter::Node;

use super::super::syntax::{Text, child_of_kind, field, named_children};
use super::model::{
    Action, Block, Case, CaseEnd, Condition, Exit, Failing, Handler, LongHead, LoopHead, Sense,
    Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: false };

fn function(node: Node<'_>) -> Option<Block<'_>> {
    match node.kind() {
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
            Some(block(field(node, "body")?))
        }
        "lambda_expression" => {
            let body = field(node, "body")?;
            match body.kind() {
                "block" => Some(block(body)),
                _ => Some(Block { statements: vec![body], tail: Tail::Returned }),
            }
        }
        _ => None,
    }
}

fn block(node: Node<'_>) -> Block<'_> {
    Block::unused(match node.kind() {
        "block" | "constructor_body" => named_children(node),
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
        "local_variable_declaration" => return declaration(node, text),
        "resource" => {
            let target = text.field(node, "name").unwrap_or(whole);
            return field(node, "value").map_or(Shape::Skip, |value| set(target, value, text));
        }
        "if_statement" => return branch(node, text),
        "for_statement" | "enhanced_for_statement" | "while_statement" | "do_statement" => {
            return repetition(node, text);
        }
        "switch_expression" | "switch_statement" => return choice(node, text, tail),
        "try_statement" | "try_with_resources_statement" => return attempt(node, text),
        "synchronized_statement" => {
            let on = child_of_kind(node, "parenthesized_expression");
            let on = on.map(|on| text.inner(on)).unwrap_or_default();
            let body = field(node, "body").map(block);
            return body.map_or(Shape::Skip, |body| Shape::Locked { on, body });
        }
        "block" => return Shape::Inline(block(node)),
        "labeled_statement" => {
            let labelled = named_children(node).into_iter().skip(1).collect();
            return Shape::Inline(Block::unused(labelled));
        }
        "return_statement" => match inner() {
            Some(value) if value.kind() == "switch_expression" => {
                return choice(value, text, Tail::Returned);
            }
            value => Action::Return(value.map(|value| text.of(value))),
        },
        "yield_statement" => Action::Value(inner_text().unwrap_or_default()),
        "throw_statement" => Action::Fail(Failing::Throws, inner_text()),
        "break_statement" => Action::Break(inner_text()),
        "continue_statement" => Action::Continue(inner_text()),
        "assert_statement" => Action::Assert(inner_text().unwrap_or_default()),
        "explicit_constructor_invocation" => Action::Call(whole.trim_end_matches(';')),
        "import_declaration" => Action::Import(inner_text().unwrap_or_default()),
        "class_declaration" | "record_declaration" => define("class", node, text),
        "interface_declaration" => define("interface", node, text),
        "enum_declaration" => define("enum", node, text),
        "method_declaration" | "constructor_declaration" => define("method", node, text),
        "ERROR" => Action::Unparsed(whole),
        "package_declaration" => return Shape::Skip,
        kind if kind.ends_with("expression") || kind == "method_invocation" => {
            return expression(node, text, tail);
        }
        _ => Action::of_value(whole, tail, Action::Evaluate(whole)),
    })
}

fn define<'a>(noun: &'static str, node: Node<'_>, text: Text<'a>) -> Action<'a> {
    Action::Define { noun, name: text.field(node, "name").unwrap_or_default() }
}

fn expression<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    match node.kind() {
        "assignment_expression" => assignment(node, text),
        "update_expression" => Shape::Action(Action::Update(whole)),
        "method_invocation" => {
            let plain = Action::of_value(whole, tail, Action::Call(whole));
            long_call(node, text, plain).unwrap_or(Shape::Action(plain))
        }
        "object_creation_expression" => {
            Shape::Action(Action::of_value(whole, tail, Action::Call(whole)))
        }
        _ => Shape::Action(Action::of_value(whole, tail, Action::Evaluate(whole))),
    }
}

fn assignment<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let target = text.field(node, "left").unwrap_or_default();
    let Some(value) = field(node, "right") else { return Shape::Skip };
    match text.field(node, "operator") {
        Some("=") | None => set(target, value, text),
        Some("+=") => Shape::Action(Action::Add { target, value: text.of(value) }),
        Some("-=") => Shape::Action(Action::Subtract { target, value: text.of(value) }),
        Some(_) => Shape::Action(Action::Update(text.of(node))),
    }
}

fn set<'a, 't>(target: &'a str, value: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let whole = Action::Set { target, value: text.of(value) };
    if value.kind() == "switch_expression" {
        let body = Block { statements: vec![value], tail: Tail::Value };
        return Shape::Long { whole, head: LongHead::Value, body };
    }
    long_call(value, text, whole).unwrap_or(Shape::Action(whole))
}

fn declaration<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let children = named_children(node);
    let declarators: Vec<_> =
        children.into_iter().filter(|child| child.kind() == "variable_declarator").collect();
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

fn long_call<'a, 't>(call: Node<'t>, text: Text<'a>, whole: Action<'a>) -> Option<Shape<'a, 't>> {
    let list = field(call, "arguments")?;
    let given = *named_children(list).last().filter(|last| last.kind() == "lambda_expression")?;
    let callee = text.between(call.start_byte(), list.start_byte());
    let parameters = text.field(given, "parameters").filter(|written| *written != "()");
    let body = function(given)?;
    Some(Shape::Long { whole, head: LongHead::Call { callee, parameters }, body })
}

fn condition<'a>(node: Node<'_>, text: Text<'a>) -> &'a str {
    field(node, "condition").map(|condition| text.inner(condition)).unwrap_or_default()
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(then) = field(node, "consequence") else { return Shape::Skip };
    Shape::If {
        before: None,
        sense: Sense::If,
        condition: Condition::Holds(condition(node, text)),
        then: block(then),
        otherwise: field(node, "alternative").map(block),
    }
}

fn repetition<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body") else { return Shape::Skip };
    let head = match node.kind() {
        "enhanced_for_statement" => LoopHead::ForEach {
            item: text.field(node, "name").unwrap_or_default(),
            of: text.field(node, "value").unwrap_or_default(),
        },
        "do_statement" => LoopHead::AgainWhile(condition(node, text)),
        "while_statement" => match condition(node, text) {
            "true" => LoopHead::Forever,
            condition => LoopHead::While(Condition::Holds(condition)),
        },
        _ => counting(text.between(node.start_byte(), body.start_byte())),
    };
    Shape::Loop { head, body: block(body), otherwise: None }
}

/// Returns the head of `for (…)`, which all languages with braces write alike.
pub(super) fn counting(written: &str) -> LoopHead<'_> {
    let head = written.strip_prefix("for").unwrap_or(written).trim();
    let head = head.strip_prefix('(').and_then(|head| head.strip_suffix(')')).unwrap_or(head);
    match head.chars().all(|char| char == ';' || char.is_whitespace()) {
        true => LoopHead::Forever,
        false => LoopHead::Counting(head.trim()),
    }
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let groups = field(node, "body").map(named_children).unwrap_or_default();
    let cases = groups.into_iter().map(|group| {
        let children = named_children(group);
        let labels = children.iter().filter(|child| child.kind() == "switch_label");
        let patterns = labels.filter_map(|label| {
            let written = text.of(*label);
            (written != "default").then(|| written.strip_prefix("case").unwrap_or(written).trim())
        });
        let patterns = patterns.collect();
        let body: Vec<_> =
            children.iter().filter(|child| child.kind() != "switch_label").copied().collect();
        let (tail, body, end) = match group.kind() {
            "switch_rule" => (tail, body, CaseEnd::Leaves),
            _ => {
                let (body, end) = case_body(body);
                (Tail::Unused, body, end)
            }
        };
        Case { patterns, guard: None, body: Block { statements: body, tail }, end }
    });
    let cases = cases.collect();
    Shape::Match { subject: Some(condition(node, text)), cases }
}

/// Returns the statements of a case without the `break` at its end, and what follows it.
pub(super) fn case_body(mut statements: Vec<Node<'_>>) -> (Vec<Node<'_>>, CaseEnd) {
    // The statements may be in braces.
    if let [only] = statements.as_slice()
        && matches!(only.kind(), "block" | "statement_block" | "compound_statement")
    {
        statements = named_children(*only);
    }
    let Some(last) = statements.last() else { return (statements, CaseEnd::FallsThrough) };
    match last.kind() {
        "break_statement" if last.named_child_count() == 0 => {
            statements.pop();
            (statements, CaseEnd::Leaves)
        }
        "return_statement" | "throw_statement" | "continue_statement" | "goto_statement"
        | "break_statement" | "yield_statement" => (statements, CaseEnd::Leaves),
        _ => (statements, CaseEnd::FallsThrough),
    }
}

fn attempt<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body").map(block) else { return Shape::Skip };
    let (mut handlers, mut finally) = (Vec::new(), None);
    for clause in named_children(node) {
        let body = field(clause, "body").or_else(|| child_of_kind(clause, "block")).map(block);
        match clause.kind() {
            "catch_clause" => {
                let parameter = child_of_kind(clause, "catch_formal_parameter");
                let of = parameter.and_then(|parameter| child_of_kind(parameter, "catch_type"));
                let of = of.map(|of| text.of(of));
                handlers.extend(body.map(|body| Handler { of, body }));
            }
            "finally_clause" => finally = body,
            _ => {}
        }
    }
    let resources = field(node, "resources").map(|list| {
        let written = text.of(list);
        written.strip_prefix('(').and_then(|list| list.strip_suffix(')')).unwrap_or(written).trim()
    });
    match resources {
        Some(resource) if handlers.is_empty() && finally.is_none() => {
            Shape::With { resource, body }
        }
        // The resources are opened within the block whose failures are handled.
        Some(_) => {
            let resources = field(node, "resources").map(named_children).unwrap_or_default();
            let statements = resources.into_iter().chain(body.statements).collect();
            Shape::Try { body: Block::unused(statements), handlers, otherwise: None, finally }
        }
        None => Shape::Try { body, handlers, otherwise: None, finally },
    }
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    let value = node.named_child(0);
    match node.kind() {
        "return_statement" => {
            let value = value.filter(|value| value.kind() != "switch_expression")?;
            Some(Exit::Returns(text.of(value)))
        }
        "assert_statement" => {
            Some(Exit::Fails(Failing::Asserts, value.map(|value| text.of(value))))
        }
        "throw_statement" => Some(Exit::Fails(Failing::Throws, value.map(|value| text.of(value)))),
        _ => None,
    }
}

fn returned(value: &str) -> Exit<'_> {
    Exit::Returns(value)
}
