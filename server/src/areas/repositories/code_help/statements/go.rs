//! Statements of Go.

use tree_sitter::Node;

use super::super::syntax::{Text, field, named_children};
use super::model::{
    Action, Block, Case, CaseEnd, Condition, Exit, Failing, LongHead, LoopHead, Sense, Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: false };

fn function(node: Node<'_>) -> Option<Block<'_>> {
    match node.kind() {
        "function_declaration" | "method_declaration" | "func_literal" => {
            Some(block(field(node, "body")?))
        }
        _ => None,
    }
}

fn block(node: Node<'_>) -> Block<'_> {
    Block::unused(match node.kind() {
        "block" => named_children(node).into_iter().flat_map(in_list).collect(),
        _ => vec![node],
    })
}

fn in_list(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "statement_list" { named_children(node) } else { vec![node] }
}

fn shape<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let inner = || node.named_child(0);
    let inner_text = || inner().map(|child| text.of(child));
    Shape::Action(match node.kind() {
        "expression_statement" => {
            return inner().map_or(Shape::Skip, |call| expression(call, text));
        }
        "if_statement" => return branch(node, text),
        "for_statement" => return repetition(node, text),
        "expression_switch_statement" | "type_switch_statement" | "select_statement" => {
            return choice(node, text);
        }
        "block" | "statement_list" => return Shape::Inline(block(node)),
        "labeled_statement" => {
            let labelled = named_children(node).into_iter().skip(1).collect();
            return Shape::Inline(Block::unused(labelled));
        }
        "short_var_declaration" | "assignment_statement" => return assignment(node, text),
        "var_declaration" | "const_declaration" => return declaration(node, text),
        "var_spec" | "const_spec" => return specification(node, text),
        "inc_statement" | "dec_statement" => Action::Update(whole),
        "return_statement" => Action::Return(inner_text()),
        "defer_statement" => return beside(node, text, Action::Defer),
        "go_statement" => return beside(node, text, Action::Start),
        "send_statement" => Action::Send {
            value: text.field(node, "value").unwrap_or_default(),
            to: text.field(node, "channel").unwrap_or_default(),
        },
        "break_statement" => Action::Break(inner_text()),
        "continue_statement" => Action::Continue(inner_text()),
        "goto_statement" => Action::Goto(inner_text().unwrap_or_default()),
        "function_declaration" | "method_declaration" => {
            Action::Define { noun: "function", name: text.field(node, "name").unwrap_or_default() }
        }
        "type_declaration" => Action::Define {
            noun: "type",
            name: inner().and_then(|spec| text.field(spec, "name")).unwrap_or_default(),
        },
        "import_declaration" => match inner() {
            Some(list) => return imports(list, text),
            None => return Shape::Skip,
        },
        "package_clause" | "empty_statement" | "fallthrough_statement" => return Shape::Skip,
        "ERROR" => Action::Unparsed(whole),
        _ => Action::of_value(whole, tail, Action::Evaluate(whole)),
    })
}

fn imports<'a, 't>(list: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let path = |spec: Node<'_>| text.of(spec).trim_matches('"');
    match list.kind() {
        "import_spec" => Shape::Action(Action::Import(path(list))),
        _ => Shape::Skip,
    }
}

fn expression<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let whole = text.of(node);
    match node.kind() {
        "call_expression" if text.field(node, "function") == Some("panic") => {
            Shape::Action(Action::Fail(Failing::Panics, Some(whole)))
        }
        "call_expression" => {
            let plain = Action::Call(whole);
            long_call(node, text, plain).unwrap_or(Shape::Action(plain))
        }
        _ => Shape::Action(Action::Evaluate(whole)),
    }
}

/// Returns a call that is given a function.
fn long_call<'a, 't>(call: Node<'t>, text: Text<'a>, whole: Action<'a>) -> Option<Shape<'a, 't>> {
    let arguments = named_children(field(call, "arguments")?);
    let given = *arguments.last().filter(|last| last.kind() == "func_literal")?;
    let callee = text.field(call, "function")?;
    let parameters = text.field(given, "parameters").filter(|list| *list != "()");
    let body = function(given)?;
    Some(Shape::Long { whole, head: LongHead::Call { callee, parameters }, body })
}

/// Returns a `defer` or `go` statement, whose function often is written in it.
fn beside<'a, 't>(
    node: Node<'t>,
    text: Text<'a>,
    action: fn(&'a str) -> Action<'a>,
) -> Shape<'a, 't> {
    let Some(call) = node.named_child(0) else { return Shape::Skip };
    let whole = action(text.of(call));
    let literal = field(call, "function").filter(|of| of.kind() == "func_literal");
    match literal.and_then(function) {
        Some(body) => Shape::Long { whole, head: LongHead::Value, body },
        None => Shape::Action(whole),
    }
}

fn assignment<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let target = text.field(node, "left").unwrap_or_default();
    let Some(right) = field(node, "right") else { return Shape::Skip };
    let value = text.of(right);
    match text.field(node, "operator") {
        Some("+=") => Shape::Action(Action::Add { target, value }),
        Some("-=") => Shape::Action(Action::Subtract { target, value }),
        Some(":=" | "=") | None => {
            let whole = Action::Set { target, value };
            let call = right.named_child(0).filter(|call| call.kind() == "call_expression");
            call.and_then(|call| long_call(call, text, whole)).unwrap_or(Shape::Action(whole))
        }
        Some(_) => Shape::Action(Action::Update(text.of(node))),
    }
}

fn declaration<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let specs = named_children(node);
    let [spec] = specs.as_slice() else {
        let list = specs.first().filter(|list| list.kind().ends_with("_spec_list"));
        let specs = list.map_or_else(|| specs.clone(), |list| named_children(*list));
        return Shape::Inline(Block::unused(specs));
    };
    specification(*spec, text)
}

fn specification<'a, 't>(spec: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let value = field(spec, "value");
    // Several names may precede the type or the value.
    let last = field(spec, "type").or(value);
    let end = last.map_or(spec.end_byte(), |last| last.start_byte());
    let target = text.between(spec.start_byte(), end).trim_end_matches('=').trim();
    Shape::Action(match value {
        Some(value) => Action::Set { target, value: text.of(value) },
        None => Action::Declare(text.of(spec)),
    })
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(then) = field(node, "consequence") else { return Shape::Skip };
    Shape::If {
        before: text.field(node, "initializer"),
        sense: Sense::If,
        condition: Condition::Holds(text.field(node, "condition").unwrap_or_default()),
        then: block(then),
        otherwise: field(node, "alternative").map(block),
    }
}

fn repetition<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body") else { return Shape::Skip };
    let head = named_children(node).into_iter().find(|child| *child != body);
    let head = match head.map(|head| (head, head.kind())) {
        None => LoopHead::Forever,
        Some((clause, "range_clause")) => {
            let of = text.field(clause, "right").unwrap_or_default();
            match text.field(clause, "left") {
                Some(item) => LoopHead::ForEach { item, of },
                None => LoopHead::Times(of),
            }
        }
        Some((clause, "for_clause")) => LoopHead::Counting(text.of(clause)),
        Some((condition, _)) => LoopHead::While(Condition::Holds(text.of(condition))),
    };
    Shape::Loop { head, body: block(body), otherwise: None }
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let is_case = |of: &Node<'_>| of.kind().ends_with("_case");
    let cases = named_children(node).into_iter().filter(is_case).map(|case| {
        let head = ["value", "communication"].into_iter().find_map(|name| field(case, name));
        let types = named_children(case);
        let types: Vec<_> = types.into_iter().filter(|of| of.kind() != "statement_list").collect();
        let patterns = match (head, types.first(), types.last()) {
            (Some(head), ..) => vec![text.of(head)],
            (None, Some(first), Some(last)) => vec![text.span(*first, *last)],
            _ => Vec::new(),
        };
        let list = named_children(case).into_iter().find(|of| of.kind() == "statement_list");
        let body = Block::unused(list.map(named_children).unwrap_or_default());
        let falls =
            body.statements.last().is_some_and(|last| last.kind() == "fallthrough_statement");
        let end = if falls { CaseEnd::FallsThrough } else { CaseEnd::Leaves };
        Case { patterns, guard: None, body, end }
    });
    let cases = cases.collect();
    let subject = match node.kind() {
        "select_statement" => None,
        // The value of a type switch is written with its assertion: `v := y.(type)`.
        "type_switch_statement" => text.field(node, "value"),
        _ => Some(text.field(node, "value").unwrap_or("true")),
    };
    Shape::Match { subject, cases }
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    match node.kind() {
        "return_statement" => {
            let list = node.named_child(0)?;
            let values = named_children(list);
            let fails = values.last().is_some_and(|last| is_error(text.of(*last)));
            let written = text.of(list);
            Some(match fails {
                true => Exit::Fails(Failing::Returns, Some(written)),
                false => Exit::Returns(written),
            })
        }
        "call_expression" if text.field(node, "function") == Some("panic") => {
            Some(Exit::Fails(Failing::Panics, Some(text.of(node))))
        }
        _ => None,
    }
}

/// Returns whether an expression is an error, by the names that all Go code uses.
fn is_error(value: &str) -> bool {
    let called = value.split('(').next().unwrap_or(value);
    matches!(called, "err" | "errors.New" | "fmt.Errorf" | "errors.Join" | "errors.Wrap")
        || called.rsplit('.').next().is_some_and(|name| {
            name.strip_prefix("Err")
                .or(name.strip_prefix("err"))
                .is_some_and(|rest| rest.chars().next().is_some_and(char::is_uppercase))
        })
}

fn returned(value: &str) -> Exit<'_> {
    Exit::Returns(value)
}
