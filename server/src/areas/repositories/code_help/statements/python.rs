//! Statements of Python.

use tree_sitter::Node;

use super::super::syntax::{Text, child_of_kind, field, named_children};
use super::model::{
    Action, Block, Case, CaseEnd, Condition, Exit, Failing, Handler, LoopHead, Sense, Shape, Tail,
};
use super::rules::Rules;

pub(super) const RULES: Rules =
    Rules { shape, function, exit, returned, assignments_are_values: false };

fn function(node: Node<'_>) -> Option<Block<'_>> {
    let body = field(node, "body")?;
    match node.kind() {
        "function_definition" => Some(block(body)),
        "lambda" => Some(Block { statements: vec![body], tail: Tail::Returned }),
        _ => None,
    }
}

fn block(node: Node<'_>) -> Block<'_> {
    Block::unused(match node.kind() {
        "block" | "module" => named_children(node),
        _ => vec![node],
    })
}

fn body(node: Node<'_>) -> Block<'_> {
    let body = field(node, "body").or_else(|| child_of_kind(node, "block"));
    body.map_or_else(|| Block::unused(Vec::new()), block)
}

fn shape<'a, 't>(node: Node<'t>, text: Text<'a>, tail: Tail) -> Shape<'a, 't> {
    let whole = text.of(node);
    let value = || node.named_child(0).map(|child| text.of(child));
    Shape::Action(match node.kind() {
        "expression_statement" => return expression(node, text),
        "if_statement" | "elif_clause" => return branch(node, text),
        "for_statement" => return repetition(node, for_head(node, text)),
        "while_statement" => return repetition(node, while_head(node, text)),
        "try_statement" => return attempt(node, text),
        "with_statement" => {
            let resource = child_of_kind(node, "with_clause").map(|clause| text.of(clause));
            return Shape::With { resource: resource.unwrap_or_default(), body: body(node) };
        }
        "match_statement" => return choice(node, text),
        "decorated_definition" => {
            return field(node, "definition")
                .map_or(Shape::Skip, |definition| shape(definition, text, tail));
        }
        "return_statement" => Action::Return(value()),
        "raise_statement" => Action::Fail(Failing::Raises, value()),
        "break_statement" => Action::Break(None),
        "continue_statement" => Action::Continue(None),
        "assert_statement" => Action::Assert(value().unwrap_or_default()),
        "delete_statement" => Action::Delete(value().unwrap_or_default()),
        "function_definition" => define("function", node, text),
        "class_definition" => define("class", node, text),
        "import_statement" | "import_from_statement" | "future_import_statement" => {
            Action::Import(whole)
        }
        "ERROR" => Action::Unparsed(whole),
        "pass_statement" | "global_statement" | "nonlocal_statement" | "decorator" => {
            return Shape::Skip;
        }
        _ => Action::of_value(whole, tail, Action::Evaluate(whole)),
    })
}

fn define<'a>(noun: &'static str, node: Node<'_>, text: Text<'a>) -> Action<'a> {
    Action::Define { noun, name: text.field(node, "name").unwrap_or_default() }
}

fn expression<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let Some(inner) = node.named_child(0) else { return Shape::Skip };
    let whole = text.of(inner);
    let side = |name| text.field(inner, name).unwrap_or_default();
    Shape::Action(match inner.kind() {
        // A docstring, or `...` in the place of a body.
        "string" | "ellipsis" | "concatenated_string" => return Shape::Skip,
        "assignment" => match text.field(inner, "right") {
            Some(value) => Action::Set { target: side("left"), value },
            None => Action::Declare(whole),
        },
        "augmented_assignment" => match text.field(inner, "operator") {
            Some("+=") => Action::Add { target: side("left"), value: side("right") },
            Some("-=") => Action::Subtract { target: side("left"), value: side("right") },
            _ => Action::Update(whole),
        },
        "yield" => Action::Yield(inner.named_child(0).map(|child| text.of(child))),
        "await" => Action::Await(inner.named_child(0).map_or(whole, |of| text.of(of))),
        "call" => Action::Call(whole),
        _ => Action::Evaluate(whole),
    })
}

fn branch<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let then = field(node, "consequence").map(block);
    let Some(then) = then else { return Shape::Skip };
    // The clauses of a statement follow each other; an `elif` is left to the caller.
    let condition = Condition::Holds(text.field(node, "condition").unwrap_or_default());
    let otherwise = next_clause(node).map(|clause| match clause.kind() {
        "else_clause" => body(clause),
        _ => Block::unused(vec![clause]),
    });
    Shape::If { before: None, sense: Sense::If, condition, then, otherwise }
}

fn next_clause(node: Node<'_>) -> Option<Node<'_>> {
    let is_clause = |of: &Node<'_>| matches!(of.kind(), "elif_clause" | "else_clause");
    if node.kind() == "elif_clause" {
        let mut next = node.next_named_sibling();
        while next.is_some_and(|of| of.kind() == "comment") {
            next = next.and_then(|of| of.next_named_sibling());
        }
        return next.filter(is_clause);
    }
    named_children(node).into_iter().find(is_clause)
}

fn for_head<'a>(node: Node<'_>, text: Text<'a>) -> LoopHead<'a> {
    let side = |name| text.field(node, name).unwrap_or_default();
    LoopHead::ForEach { item: side("left"), of: side("right") }
}

fn while_head<'a>(node: Node<'_>, text: Text<'a>) -> LoopHead<'a> {
    match text.field(node, "condition") {
        Some("True" | "1") | None => LoopHead::Forever,
        Some(condition) => LoopHead::While(Condition::Holds(condition)),
    }
}

fn repetition<'a, 't>(node: Node<'t>, head: LoopHead<'a>) -> Shape<'a, 't> {
    Shape::Loop { head, body: body(node), otherwise: field(node, "alternative").map(body) }
}

fn attempt<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let (mut handlers, mut otherwise, mut finally) = (Vec::new(), None, None);
    for clause in named_children(node) {
        match clause.kind() {
            "except_clause" | "except_group_clause" => {
                let of = named_children(clause).into_iter().find(|child| child.kind() != "block");
                handlers.push(Handler { of: of.map(|of| text.of(of)), body: body(clause) });
            }
            "else_clause" => otherwise = Some(body(clause)),
            "finally_clause" => finally = Some(body(clause)),
            _ => {}
        }
    }
    Shape::Try { body: body(node), handlers, otherwise, finally }
}

fn choice<'a, 't>(node: Node<'t>, text: Text<'a>) -> Shape<'a, 't> {
    let clauses = field(node, "body").map(named_children).unwrap_or_default();
    let cases = clauses.into_iter().filter(|clause| clause.kind() == "case_clause").map(|clause| {
        let patterns = named_children(clause).into_iter().filter(|of| of.kind() == "case_pattern");
        let patterns: Vec<&str> = patterns.map(|of| text.of(of)).filter(|of| *of != "_").collect();
        let guard = field(clause, "guard").and_then(|guard| guard.named_child(0));
        let body = field(clause, "consequence").map(block);
        let body = body.unwrap_or_else(|| Block::unused(Vec::new()));
        let guard = guard.map(|guard| text.of(guard));
        Case { patterns, guard, body, end: CaseEnd::Leaves }
    });
    Shape::Match { subject: text.field(node, "subject"), cases: cases.collect() }
}

fn exit<'a>(node: Node<'_>, text: Text<'a>) -> Option<Exit<'a>> {
    let value = || node.named_child(0).map(|child| text.of(child));
    match node.kind() {
        "return_statement" => Some(Exit::Returns(value()?)),
        "yield" => Some(Exit::Yields(value()?)),
        "raise_statement" => Some(Exit::Fails(Failing::Raises, value())),
        "assert_statement" => Some(Exit::Fails(Failing::Asserts, value())),
        _ => None,
    }
}

fn returned(value: &str) -> Exit<'_> {
    Exit::Returns(value)
}
