//! Actions and conditions as clauses of English sentences.

use super::super::excerpt::code;
use super::super::statements::{Action, Condition, Failing, LoopHead, Sense};

/// Returns what an action does, from the verb on: `returns `x``.
pub(super) fn clause(action: &Action<'_>) -> String {
    match action {
        Action::Return(Some(value)) => format!("returns {}", code(value)),
        Action::Return(None) => "returns".to_owned(),
        Action::Value(value) => format!("gives {}", code(value)),
        Action::Yield(Some(value)) => format!("yields {}", code(value)),
        Action::Yield(None) => "yields".to_owned(),
        Action::Fail(how, what) => failing(*how, *what),
        Action::Break(label) => with("leaves the loop", *label),
        Action::Continue(label) => with("continues with the next iteration", *label),
        Action::Goto(label) => format!("jumps to {}", code(label)),
        Action::Set { target, value } => format!("sets {} to {}", code(target), code(value)),
        Action::SetDefault { target, value } => {
            format!("sets {} to {} unless it is set already", code(target), code(value))
        }
        Action::Add { target, value } => format!("adds {} to {}", code(value), code(target)),
        Action::Subtract { target, value } => {
            format!("subtracts {} from {}", code(value), code(target))
        }
        Action::Update(whole) => update(whole),
        Action::Declare(what) => format!("declares {}", code(what)),
        Action::Define { noun, name: "" } => format!("defines a {noun}"),
        Action::Define { noun, name } => format!("defines the {noun} {}", code(name)),
        Action::Import(what) => format!("imports {}", code(what)),
        Action::Call(call) => format!("calls {}", code(call)),
        Action::Await(what) => format!("waits for {}", code(what)),
        Action::Evaluate(what) => format!("evaluates {}", code(what)),
        Action::Assert(what) => format!("asserts {}", code(what)),
        Action::Delete(what) => format!("deletes {}", code(what)),
        Action::Defer(call) => format!("defers {} until the function returns", code(call)),
        Action::Start(call) => format!("starts {} concurrently", code(call)),
        Action::Send { value, to } => format!("sends {} to {}", code(value), code(to)),
        Action::Unparsed(text) => format!("contains code that cannot be parsed: {}", code(text)),
    }
}

fn update(whole: &str) -> String {
    for (operator, verb) in [("++", "increments"), ("--", "decrements")] {
        let target = whole.strip_suffix(operator).or_else(|| whole.strip_prefix(operator));
        if let Some(target) = target {
            return format!("{verb} {}", code(target.trim()));
        }
    }
    format!("applies {}", code(whole))
}

fn with(verb: &str, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{verb} {}", code(label)),
        None => verb.to_owned(),
    }
}

/// Returns how code fails, from the verb on.
pub(super) fn failing(how: Failing, what: Option<&str>) -> String {
    let verb = match how {
        Failing::Returns => "returns",
        Failing::PassesOn => "passes on the error of",
        Failing::Raises => "raises",
        Failing::Throws => "throws",
        Failing::Panics => "panics with",
        Failing::Rejects => "returns the rejected promise",
        Failing::Asserts => "fails unless this holds:",
        Failing::HasNone => "returns no value if there is none of",
    };
    match what {
        Some(what) => format!("{verb} {}", code(what)),
        None if how == Failing::Raises => "raises the handled exception again".to_owned(),
        None => "throws the handled exception again".to_owned(),
    }
}

/// Returns a condition, from its conjunction on: `if `x``.
pub(super) fn condition(sense: Sense, condition: Condition<'_>) -> String {
    let conjunction = match sense {
        Sense::If => "if",
        Sense::Unless => "unless",
    };
    match condition {
        Condition::Holds("") => format!("{conjunction} a condition holds"),
        Condition::Holds(what) => format!("{conjunction} {}", code(what)),
        Condition::Matches { value, pattern } => {
            format!("{conjunction} {} matches {}", code(value), code(pattern))
        }
        Condition::Compiled(what) => {
            format!("when it is compiled, {conjunction} {} is set", code(what))
        }
    }
}

/// Returns how often a block is repeated: `for each `x` of `xs``.
pub(super) fn repetition(head: LoopHead<'_>) -> String {
    match head {
        LoopHead::ForEach { item, of } => {
            let item = item.trim_start_matches(['&', ' ']);
            format!("for each {} of {}", code(item), code(of))
        }
        LoopHead::Times(count) => format!("repeats by {}", code(count)),
        LoopHead::While(Condition::Matches { value, pattern }) => {
            format!("while {} matches {}", code(value), code(pattern))
        }
        LoopHead::While(Condition::Holds(what) | Condition::Compiled(what)) => {
            format!("while {}", code(what))
        }
        LoopHead::Until(what) => format!("until {}", code(what)),
        LoopHead::AgainWhile(what) => format!("once, and again while {}", code(what)),
        LoopHead::Counting(head) => format!("loops with {}", code(head)),
        LoopHead::Forever => "repeats until it is left".to_owned(),
    }
}
