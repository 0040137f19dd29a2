//! Statements of C and C++.

use tree_sitter::Node;

use super::super::syntax::{Text, child_of_kind, field, named_children};
use super::java::{case_body, counting};
use super::model::{
    Action, Block, Case, Condition, Exit, Failing, Handler, LongHead, LoopHead, Sense, Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: false };

fn function(node: Node<'_>) -> Option<Block<'_>> {
    match node.kind() {
        "function_definition" | "lambda_expression" => Some(block(field(node, "body")?)),
        _ => None,
    }
}

fn block(node: Node<'_>) -> Block<'_> {
    Block::unused(match node.kind() {
        "compound_statement" | "translation_unit" => named_children(node),
        _ => vec![node],
    })
}

fn shape<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let inner = || node.named_child(0);
    let inner_text = || inner().map(|child| text.of(child));
    Shape::Action(match node.kind() {
        "expression_statement" => {
            return inner().map_or(Shape::Skip, |inner| expression(inner, text));
        }
        "declaration" => return declaration(node, text),
        "if_statement" => return branch(node, text),
        "for_statement" | "for_range_loop" | "while_statement" | "do_statement" => {
            return repetition(node, text);
        }
        "switch_statement" => return choice(node, text),
        "try_statement" => return attempt(node, text),
        "compound_statement" => return Shape::Inline(block(node)),
        "labeled_statement" => {
            let label = text.field(node, "label").unwrap_or_default();
            let labelled = named_children(node).into_iter().skip(1).collect();
            return Shape::Labelled { label, body: Block::unused(labelled) };
        }
        "preproc_ifdef" | "preproc_if" | "preproc_elif" | "preproc_elifdef" => {
            return compiled(node, text);
        }
        "preproc_else" => return Shape::Inline(Block::unused(named_children(node))),
        "return_statement" | "co_return_statement" => Action::Return(inner_text()),
        "co_yield_statement" => Action::Yield(inner_text()),
        "throw_statement" => Action::Fail(Failing::Throws, inner_text()),
        "break_statement" => Action::Break(None),
        "continue_statement" => Action::Continue(None),
        "goto_statement" => Action::Goto(inner_text().unwrap_or_default()),
        "preproc_include" => Action::Import(text.field(node, "path").unwrap_or_default()),
        "preproc_def" | "preproc_function_def" => define("macro", text.field(node, "name")),
        "function_definition" => define("function", declared_name(node, text)),
        "struct_specifier" => define("struct", text.field(node, "name")),
        "class_specifier" => define("class", text.field(node, "name")),
        "enum_specifier" => define("enum", text.field(node, "name")),
        "union_specifier" => define("union", text.field(node, "name")),
        "type_definition" => define("type", declared_name(node, text)),
        "namespace_definition" => define("namespace", text.field(node, "name")),
        // What it declares may be a template again, to any depth: left to the caller.
        "template_declaration" => {
            return Shape::Inline(Block::unused(named_children(node).pop().into_iter().collect()));
        }
        "ERROR" => Action::Unparsed(whole),
        "preproc_call"
        | "empty_statement"
        | "using_declaration"
        | "access_specifier"
        | "attributed_statement"
        | "static_assert_declaration" => return Shape::Skip,
        _ => Action::of_value(whole, tail, Action::Evaluate(whole)),
    })
}

fn define<'a>(noun: &'static str, name: Option<&'a str>) -> Action<'a> {
    match name {
        Some(name) => Action::Define { noun, name },
        None => Action::Define { noun, name: "" },
    }
}

/// Returns the name that a declarator, however deep, declares.
fn declared_name<'a>(node: Node<'_>, text: Text<'a>) -> Option<&'a str> {
    let mut declarator = field(node, "declarator")?;
    while let Some(inner) = field(declarator, "declarator") {
        declarator = inner;
    }
    Some(text.of(declarator))
}

fn expression<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let whole = text.of(node);
    Shape::Action(match node.kind() {
        "assignment_expression" => {
            let target = text.field(node, "left").unwrap_or_default();
            let Some(value) = field(node, "right") else { return Shape::Skip };
            match text.field(node, "operator") {
                Some("=") | None => return set(target, value, text),
                Some("+=") => Action::Add { target, value: text.of(value) },
                Some("-=") => Action::Subtract { target, value: text.of(value) },
                Some(_) => Action::Update(whole),
            }
        }
        "update_expression" => Action::Update(whole),
        "delete_expression" => {
            Action::Delete(node.named_child(0).map(|of| text.of(of)).unwrap_or_default())
        }
        "throw_expression" => {
            Action::Fail(Failing::Throws, node.named_child(0).map(|of| text.of(of)))
        }
        "call_expression" if text.field(node, "function") == Some("assert") => {
            Action::Assert(whole)
        }
        "call_expression" => {
            let plain = Action::Call(whole);
            return long_call(node, text, plain).unwrap_or(Shape::Action(plain));
        }
        "co_await_expression" => Action::Await(whole),
        _ => Action::Evaluate(whole),
    })
}

fn set<'a, 't>(target: &'a str, value: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let whole = Action::Set { target, value: text.of(value) };
    if value.kind() == "lambda_expression" {
        return Shape::Action(Action::Define { noun: "function", name: target });
    }
    long_call(value, text, whole).unwrap_or(Shape::Action(whole))
}

fn declaration<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let type_end = field(node, "type").map_or(node.start_byte(), |of| of.end_byte());
    let declarators: Vec<_> =
        named_children(node).into_iter().filter(|of| of.start_byte() >= type_end).collect();
    if let [one] = declarators.as_slice()
        && one.kind() == "init_declarator"
        && let Some(value) = field(*one, "value")
        && value.kind() != "argument_list"
    {
        let target = declared_name(*one, text).unwrap_or_default();
        return set(target, value, text);
    }
    Shape::Action(Action::Declare(text.of(node).trim_end_matches(';')))
}

fn long_call<'a, 't>(call: Node<'t>, text: Text<'a>, whole: Action<'a>) -> Option<Shape<'a, 't>> {
    let list = field(call, "arguments").filter(|_| call.kind() == "call_expression")?;
    let given = *named_children(list).last().filter(|last| last.kind() == "lambda_expression")?;
    let callee = text.field(call, "function")?;
    let parameters = field(given, "declarator").and_then(|of| text.field(of, "parameters"));
    let parameters = parameters.filter(|written| *written != "()");
    let body = function(given)?;
    Some(Shape::Long { whole, head: LongHead::Call { callee, parameters }, body })
}

fn condition<'a>(node: Node<'_>, text: Text<'a>) -> &'a str {
    field(node, "condition").map(|condition| text.inner(condition)).unwrap_or_default()
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(then) = field(node, "consequence") else { return Shape::Skip };
    let otherwise = field(node, "alternative").and_then(|clause| match clause.kind() {
        "else_clause" => clause.named_child(0),
        _ => Some(clause),
    });
    Shape::If {
        before: None,
        sense: Sense::If,
        condition: Condition::Holds(condition(node, text)),
        then: block(then),
        otherwise: otherwise.map(block),
    }
}

/// Returns what the preprocessor includes under a condition.
fn compiled<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let head = field(node, "name").or_else(|| field(node, "condition"));
    let otherwise = field(node, "alternative");
    let then = named_children(node);
    let is_then = |of: &Node<'_>| Some(*of) != head && Some(*of) != otherwise;
    let then = then.into_iter().filter(is_then).collect();
    let sense = match text.of(node).starts_with("#ifndef") {
        true => Sense::Unless,
        false => Sense::If,
    };
    Shape::If {
        before: None,
        sense,
        condition: Condition::Compiled(head.map(|head| text.of(head)).unwrap_or_default()),
        then: Block::unused(then),
        otherwise: otherwise.map(|clause| Block::unused(vec![clause])),
    }
}

fn repetition<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body") else { return Shape::Skip };
    let head = match node.kind() {
        "for_range_loop" => LoopHead::ForEach {
            item: text.field(node, "declarator").unwrap_or_default(),
            of: text.field(node, "right").unwrap_or_default(),
        },
        "do_statement" => LoopHead::AgainWhile(condition(node, text)),
        "while_statement" => match condition(node, text) {
            "1" | "true" => LoopHead::Forever,
            condition => LoopHead::While(Condition::Holds(condition)),
        },
        _ => counting(text.between(node.start_byte(), body.start_byte())),
    };
    Shape::Loop { head, body: block(body), otherwise: None }
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let clauses = field(node, "body").map(named_children).unwrap_or_default();
    let is_case = |of: &Node<'_>| of.kind() == "case_statement";
    let cases = clauses.into_iter().filter(is_case).map(|clause| {
        let value = field(clause, "value");
        let body = named_children(clause).into_iter().filter(|of| Some(*of) != value).collect();
        let patterns = value.map(|value| text.of(value)).into_iter().collect();
        let (body, end) = case_body(body);
        Case { patterns, guard: None, body: Block::unused(body), end }
    });
    let cases = cases.collect();
    Shape::Match { subject: Some(condition(node, text)), cases }
}

fn attempt<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(body) = field(node, "body").map(block) else { return Shape::Skip };
    let clauses = named_children(node).into_iter().filter(|of| of.kind() == "catch_clause");
    let handlers = clauses.filter_map(|clause| {
        let parameter = field(clause, "parameters")
            .and_then(|list| child_of_kind(list, "parameter_declaration"));
        let of = parameter.map(|parameter| text.of(parameter));
        Some(Handler { of, body: block(field(clause, "body")?) })
    });
    Shape::Try { body, handlers: handlers.collect(), otherwise: None, finally: None }
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    let value = || node.named_child(0).map(|child| text.of(child));
    match node.kind() {
        "return_statement" | "co_return_statement" => Some(Exit::Returns(value()?)),
        "co_yield_statement" => Some(Exit::Yields(value()?)),
        "call_expression" if text.field(node, "function") == Some("assert") => {
            Some(Exit::Fails(Failing::Asserts, Some(text.of(node))))
        }
        "throw_statement" | "throw_expression" => Some(Exit::Fails(Failing::Throws, value())),
        _ => None,
    }
}

fn returned(value: &str) -> Exit<'_> {
    Exit::Returns(value)
}
