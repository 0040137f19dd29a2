//! Statements of Ruby.

use tree_sitter::Node;

use super::super::syntax::{Text, child_of_kind, field, named_children};
use super::model::{
    Action, Block, Case, CaseEnd, Condition, Exit, Failing, Handler, LongHead, LoopHead, Sense,
    Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: true };

/// Methods without arguments that are given a block for each of their receiver's elements.
const EACH: [&str; 4] = ["each", "each_pair", "find_each", "reverse_each"];

fn function(node: Node<'_>) -> Option<Block<'_>> {
    match node.kind() {
        "method" | "singleton_method" => {
            let body = field(node, "body");
            Some(body.map_or_else(|| Block::unused(Vec::new()), |body| block(body, Tail::Returned)))
        }
        "lambda" => field(node, "body").map(|body| block(body, Tail::Returned)),
        _ => None,
    }
}

fn block(node: Node<'_>, tail: Tail) -> Block<'_> {
    let statements = match node.kind() {
        "body_statement" if is_guarded(node) => vec![node],
        "body_statement"
        | "block_body"
        | "then"
        | "else"
        | "do"
        | "ensure"
        | "begin_block"
        | "parenthesized_statements"
        | "program" => named_children(node),
        "do_block" | "block" => {
            return field(node, "body")
                .map_or_else(|| Block::unused(Vec::new()), |body| block_of_body(body, tail));
        }
        _ => vec![node],
    };
    Block { statements, tail }
}

fn block_of_body(node: Node<'_>, tail: Tail) -> Block<'_> {
    if is_guarded(node) {
        return Block { statements: vec![node], tail };
    }
    Block { statements: named_children(node), tail }
}

/// Returns whether a body has its own `rescue` or `ensure`.
fn is_guarded(body: Node<'_>) -> bool {
    named_children(body).iter().any(|child| matches!(child.kind(), "rescue" | "ensure"))
}

fn shape<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    Shape::Action(match node.kind() {
        "if" | "elsif" => return branch(node, text, tail, Sense::If),
        "unless" => return branch(node, text, tail, Sense::Unless),
        "if_modifier" => return modifier(node, text, tail, Sense::If),
        "unless_modifier" => return modifier(node, text, tail, Sense::Unless),
        "while" | "while_modifier" => {
            return repetition(node, LoopHead::While(Condition::Holds(condition(node, text))));
        }
        "until" | "until_modifier" => {
            return repetition(node, LoopHead::Until(condition(node, text)));
        }
        "for" => {
            let of = field(node, "value").and_then(|of| of.named_child(0));
            let of = of.map(|of| text.of(of)).unwrap_or_default();
            let item = text.field(node, "pattern").unwrap_or_default();
            return repetition(node, LoopHead::ForEach { item, of });
        }
        "case" | "case_match" => return choice(node, text, tail),
        "begin" | "body_statement" => return attempt(node, text, tail),
        "rescue_modifier" => {
            let part = |name| field(node, name).map(|of| block(of, tail));
            let Some((body, handler)) = part("body").zip(part("handler")) else {
                return Shape::Skip;
            };
            let handlers = vec![Handler { of: None, body: handler }];
            return Shape::Try { body, handlers, otherwise: None, finally: None };
        }
        "parenthesized_statements" => return Shape::Inline(block(node, tail)),
        "return" => Action::Return(arguments(node, text)),
        "break" => Action::Break(arguments(node, text)),
        "next" => Action::Continue(arguments(node, text)),
        "yield" => Action::Yield(arguments(node, text)),
        "assignment" => return assignment(node, text),
        "operator_assignment" => operator_assignment(node, text),
        "call" => return call(node, text, tail),
        "method" | "singleton_method" => {
            Action::Define { noun: "method", name: text.field(node, "name").unwrap_or_default() }
        }
        "class" => {
            Action::Define { noun: "class", name: text.field(node, "name").unwrap_or_default() }
        }
        "module" => {
            Action::Define { noun: "module", name: text.field(node, "name").unwrap_or_default() }
        }
        "ERROR" => Action::Unparsed(whole),
        "identifier" if tail == Tail::Unused => {
            // A name alone is a call without arguments, or `private` and the like.
            Action::Call(whole)
        }
        "empty_statement" | "heredoc_body" => return Shape::Skip,
        _ => Action::of_value(whole, tail, Action::Evaluate(whole)),
    })
}

fn condition<'a>(node: Node<'_>, text: Text<'a>) -> &'a str {
    text.field(node, "condition").unwrap_or_default()
}

fn arguments<'a>(node: Node<'_>, text: Text<'a>) -> Option<&'a str> {
    child_of_kind(node, "argument_list").map(|list| unparenthesised(text.of(list)))
}

fn unparenthesised(list: &str) -> &str {
    list.strip_prefix('(').and_then(|list| list.strip_suffix(')')).unwrap_or(list)
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail, sense: Sense) -> Shape<'a, 't> {
    let then = field(node, "consequence")
        .map_or_else(|| Block::unused(Vec::new()), |then| block(then, tail));
    let condition = Condition::Holds(condition(node, text));
    let otherwise = field(node, "alternative").map(|otherwise| block(otherwise, tail));
    Shape::If { before: None, sense, condition, then, otherwise }
}

fn modifier<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail, sense: Sense) -> Shape<'a, 't> {
    let Some(body) = field(node, "body") else { return Shape::Skip };
    let condition = Condition::Holds(condition(node, text));
    Shape::If { before: None, sense, condition, then: block(body, tail), otherwise: None }
}

fn repetition<'a, 't>(node: Node<'t>, head: LoopHead<'a>) -> Shape<'a, 't> {
    match field(node, "body") {
        Some(body) => Shape::Loop { head, body: block(body, Tail::Unused), otherwise: None },
        None => Shape::Skip,
    }
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let body =
        |of: Option<Node<'t>>| of.map_or_else(|| Block::unused(Vec::new()), |of| block(of, tail));
    let cases = named_children(node).into_iter().filter_map(|clause| {
        let patterns = match clause.kind() {
            "when" => named_children(clause)
                .into_iter()
                .filter(|of| of.kind() == "pattern")
                .map(|of| text.of(of))
                .collect(),
            "in_clause" => text.field(clause, "pattern").into_iter().collect(),
            "else" => {
                let body = body(Some(clause));
                let patterns = Vec::new();
                return Some(Case { patterns, guard: None, body, end: CaseEnd::Leaves });
            }
            _ => return None,
        };
        let guard = field(clause, "guard").and_then(|guard| field(guard, "condition"));
        let guard = guard.map(|guard| text.of(guard));
        let body = body(field(clause, "body"));
        Some(Case { patterns, guard, body, end: CaseEnd::Leaves })
    });
    let cases = cases.collect();
    Shape::Match { subject: Some(text.field(node, "value").unwrap_or("case")), cases }
}

fn attempt<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let (mut tried, mut handlers, mut otherwise, mut finally) =
        (Vec::new(), Vec::new(), None, None);
    for child in named_children(node) {
        match child.kind() {
            "rescue" => {
                let kinds = field(child, "exceptions");
                let variable = field(child, "variable");
                let of = match (kinds, variable) {
                    (Some(kinds), Some(variable)) => Some(text.span(kinds, variable)),
                    (Some(kinds), None) => Some(text.of(kinds)),
                    (None, _) => None,
                };
                let body = field(child, "body");
                let body = body.map_or_else(|| Block::unused(Vec::new()), |body| block(body, tail));
                handlers.push(Handler { of, body });
            }
            "else" => otherwise = Some(block(child, tail)),
            "ensure" => finally = Some(block(child, Tail::Unused)),
            _ => tried.push(child),
        }
    }
    let body = Block { statements: tried, tail };
    match handlers.is_empty() && finally.is_none() {
        true => Shape::Inline(body),
        false => Shape::Try { body, handlers, otherwise, finally },
    }
}

fn assignment<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let target = text.field(node, "left").unwrap_or_default();
    let Some(value) = field(node, "right") else { return Shape::Skip };
    let whole = Action::Set { target, value: text.of(value) };
    match value.kind() {
        "if" | "unless" | "case" | "case_match" | "begin" => {
            let body = Block { statements: vec![value], tail: Tail::Value };
            Shape::Long { whole, head: LongHead::Value, body }
        }
        _ => long_call(value, text, whole).unwrap_or(Shape::Action(whole)),
    }
}

fn operator_assignment<'a>(node: Node<'_>, text: Text<'a>) -> Action<'a> {
    let target = text.field(node, "left").unwrap_or_default();
    let value = text.field(node, "right").unwrap_or_default();
    match text.field(node, "operator") {
        Some("||=") => Action::SetDefault { target, value },
        Some("+=") => Action::Add { target, value },
        Some("-=") => Action::Subtract { target, value },
        _ => Action::Update(text.of(node)),
    }
}

fn call<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let method = text.field(node, "method").unwrap_or_default();
    let receiver = text.field(node, "receiver");
    if receiver.is_none() {
        let given = || text.field(node, "arguments").map(unparenthesised);
        match method {
            "raise" | "fail" => return Shape::Action(Action::Fail(Failing::Raises, given())),
            "require" | "require_relative" | "load" => {
                return Shape::Action(Action::Import(given().unwrap_or_default()));
            }
            "loop" => {
                if let Some(body) = field(node, "block") {
                    let body = block(body, Tail::Unused);
                    return Shape::Loop { head: LoopHead::Forever, body, otherwise: None };
                }
            }
            _ => {}
        }
    }
    if let Some((of, given)) = receiver.zip(field(node, "block")) {
        let item = parameters(given, text);
        let body = || block(given, Tail::Unused);
        if EACH.contains(&method)
            && let Some(item) = item
        {
            let head = LoopHead::ForEach { item, of };
            return Shape::Loop { head, body: body(), otherwise: None };
        }
        if method == "times" && item.is_none() {
            let head = LoopHead::Times(of);
            return Shape::Loop { head, body: body(), otherwise: None };
        }
    }
    let plain = Action::of_value(whole, tail, Action::Call(whole));
    long_call(node, text, plain).unwrap_or(Shape::Action(plain))
}

fn parameters<'a>(block: Node<'_>, text: Text<'a>) -> Option<&'a str> {
    text.field(block, "parameters").map(|list| list.trim_matches('|').trim())
}

fn long_call<'a, 't>(node: Node<'t>, text: Text<'a>, whole: Action<'a>) -> Option<Shape<'a, 't>> {
    let given = field(node, "block")?;
    let callee = text.between(node.start_byte(), given.start_byte());
    let head = LongHead::Call { callee, parameters: parameters(given, text) };
    Some(Shape::Long { whole, head, body: block(given, Tail::Value) })
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    match node.kind() {
        "return" => Some(Exit::Returns(arguments(node, text)?)),
        "yield" => Some(Exit::Yields(arguments(node, text)?)),
        "call" if field(node, "receiver").is_none() => match text.field(node, "method") {
            Some("raise" | "fail") => {
                let what = text.field(node, "arguments").map(unparenthesised);
                Some(Exit::Fails(Failing::Raises, what))
            }
            _ => None,
        },
        _ => None,
    }
}

fn returned(value: &str) -> Exit<'_> {
    Exit::Returns(value)
}
