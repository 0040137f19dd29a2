//! The steps of a function: its statements in their order, as sentences.
//!
//! A block of few and simple statements is described in the sentence of its header, a longer one in
//! steps of its own below it.

use std::collections::VecDeque;

use tree_sitter::Node;

use super::super::excerpt::{capitalised, code, fits};
use super::super::limits::{
    CASES_MAX, INLINE_CHARS_MAX, INLINE_CLAUSES_MAX, LEFT_OUT_MAX, NESTING_MAX, NODES_MAX,
    STEPS_MAX,
};
use super::super::statements::{
    Action, Block, Case, CaseEnd, Condition, Handler, LongHead, Rules, Sense, Shape, Tail,
};
use super::super::syntax::{Text, end_line, start_line};
use super::clauses::{clause, condition, repetition};
use crate::areas::repositories::source::LineRange;

/// Describes the statements of a block; of a part of it, those that have one of the lines.
pub(super) fn steps(
    block: Block<'_>,
    text: Text<'_>,
    rules: Rules,
    lines: Option<LineRange>,
) -> Vec<String> {
    let mut writer =
        Writer { text, rules, lines, steps: Vec::new(), left_out: 0, waiting: VecDeque::new() };
    writer.wait_for_block(block, 0);
    for _ in 0..NODES_MAX {
        let Some(next) = writer.waiting.pop_front() else { break };
        match next {
            Waiting::Statement { node, tail, depth, lead } => {
                writer.statement(node, tail, depth, &lead);
            }
            Waiting::Step { depth, text } => writer.step(depth, &text),
            Waiting::Block { block, depth, lead } => writer.block_step(block, depth, &lead),
        }
        if writer.left_out >= LEFT_OUT_MAX {
            break;
        }
    }
    writer.finish()
}

/// What is still to be described.
enum Waiting<'t> {
    Statement {
        node: Node<'t>,
        tail: Tail,
        depth: usize,
        lead: String,
    },
    Step {
        depth: usize,
        text: String,
    },
    /// A block that follows what is said of it.
    Block {
        block: Block<'t>,
        depth: usize,
        lead: String,
    },
}

struct Writer<'a, 't> {
    text: Text<'a>,
    rules: Rules,
    lines: Option<LineRange>,
    steps: Vec<String>,
    left_out: usize,
    waiting: VecDeque<Waiting<'t>>,
}

impl<'a, 't> Writer<'a, 't> {
    fn finish(mut self) -> Vec<String> {
        if self.left_out > 0 {
            let at_least = if self.left_out >= LEFT_OUT_MAX { "At least " } else { "" };
            let plural = if self.left_out == 1 { "step is" } else { "steps are" };
            self.steps.push(format!("{at_least}{} more {plural} left out.", self.left_out));
        }
        self.steps
    }

    /// Adds a step, which is no more than a clause.
    fn step(&mut self, depth: usize, text: &str) {
        if self.steps.len() >= STEPS_MAX {
            self.left_out += 1;
            return;
        }
        let marker = match depth {
            0 => String::new(),
            depth => format!("{}- ", "  ".repeat(depth - 1)),
        };
        let end = if text.ends_with([':', '.']) { "" } else { "." };
        self.steps.push(format!("{marker}{}{end}", capitalised(text)));
    }

    fn is_asked(&self, node: Node<'_>) -> bool {
        self.lines
            .is_none_or(|lines| start_line(node) <= lines.end() && lines.start() <= end_line(node))
    }

    /// Puts things in front of what waits.
    fn wait_for(&mut self, all: Vec<Waiting<'t>>) {
        for one in all.into_iter().rev() {
            self.waiting.push_front(one);
        }
    }

    fn wait_for_block(&mut self, block: Block<'t>, depth: usize) {
        let statements = block.statements.iter().enumerate().map(|(position, node)| {
            let tail = block.tail_of(position);
            Waiting::Statement { node: *node, tail, depth, lead: String::new() }
        });
        self.wait_for(statements.collect());
    }

    fn statement(&mut self, node: Node<'t>, tail: Tail, depth: usize, lead: &str) {
        if !self.is_asked(node) {
            return;
        }
        let shape = (self.rules.shape)(node, self.text, tail);
        let begins_before = self.lines.is_some_and(|lines| start_line(node) < lines.start());
        if begins_before && !matches!(shape, Shape::Action(_) | Shape::Skip) {
            // Only a part of it is asked for: what is in it.
            for block in shape.into_blocks().into_iter().rev() {
                self.wait_for_block(block, depth);
            }
            return;
        }
        match shape {
            Shape::Skip => {}
            Shape::Action(action) => self.step(depth, &format!("{lead}{}", clause(&action))),
            Shape::Inline(body) => self.wait_for_block(body, depth),
            Shape::If { before, sense, condition, then, otherwise } => {
                let lead = match before {
                    Some(before) => format!("{lead}after {}, ", code(before)),
                    None => lead.to_owned(),
                };
                self.branch(&lead, (sense, condition), then, otherwise, depth);
            }
            Shape::BindOrElse { pattern, value, otherwise } => {
                let head = format!("{lead}matches {} with {}", code(value), code(pattern));
                match self.short(&otherwise) {
                    Some(clauses) => self.step(depth, &format!("{head}, or else {clauses}")),
                    None => {
                        self.step(depth, &head);
                        let lead = "if it does not match".to_owned();
                        self.wait_for(vec![Waiting::Block { block: otherwise, depth, lead }]);
                    }
                }
            }
            Shape::Loop { head, body, otherwise } => {
                let head = format!("{lead}{}", repetition(head));
                if let Some(block) = otherwise {
                    let lead = "unless the loop was left early".to_owned();
                    self.wait_for(vec![Waiting::Block { block, depth, lead }]);
                }
                self.block_step(body, depth, &head);
            }
            Shape::With { resource, body } => {
                self.block_step(body, depth, &format!("{lead}with {}", code(resource)));
            }
            Shape::Labelled { label, body } => {
                self.block_step(body, depth, &format!("{lead}at the label {}", code(label)));
            }
            Shape::Locked { on, body } => {
                let head = format!("{lead}while it holds the lock of {}", code(on));
                self.block_step(body, depth, &head);
            }
            Shape::Match { subject, cases } => self.choice(subject, cases, depth, lead),
            Shape::Try { body, handlers, otherwise, finally } => {
                self.attempt(body, handlers, (otherwise, finally), depth, lead);
            }
            Shape::Long { whole, head, body } => self.long(&whole, head, body, depth, lead),
        }
    }

    /// Describes a block after the words that introduce it: in the same sentence, if it is short.
    fn block_step(&mut self, block: Block<'t>, depth: usize, lead: &str) {
        if let Some(clauses) = self.short(&block)
            && lead.chars().count() + clauses.chars().count() <= INLINE_CHARS_MAX
        {
            // What is conditional follows a comma, what is repeated or tried follows a colon.
            let is_clause =
                ["if ", "unless ", "otherwise", "on ", "for ", "when ", "in ", "after "]
                    .iter()
                    .any(|word| lead.starts_with(word) && !lead.starts_with("for each "));
            let mark = if is_clause { "," } else { ":" };
            return self.step(depth, &format!("{lead}{mark} {clauses}"));
        }
        self.nested(block, depth, lead);
    }

    /// Describes a block in steps below the words that introduce it.
    fn nested(&mut self, block: Block<'t>, depth: usize, lead: &str) {
        if depth + 1 > NESTING_MAX {
            let count = block.statements.len();
            let plural = if count == 1 { "statement" } else { "statements" };
            return self.step(depth, &format!("{lead}, {count} nested {plural} (left out)"));
        }
        self.step(depth, &format!("{lead}:"));
        self.wait_for_block(block, depth + 1);
    }

    fn branch(
        &mut self,
        lead: &str,
        (sense, asked): (Sense, Condition<'_>),
        then: Block<'t>,
        otherwise: Option<Block<'t>>,
        depth: usize,
    ) {
        let asked = condition(sense, asked);
        let Some(otherwise) = otherwise.filter(|block| !block.statements.is_empty()) else {
            return match self.only_exit(&then) {
                Some(exit) => self.step(depth, &format!("{lead}{exit} {asked}")),
                None => self.block_step(then, depth, &format!("{lead}{asked}")),
            };
        };
        let chained = match otherwise.statements.as_slice() {
            [only] => {
                let shape = (self.rules.shape)(*only, self.text, otherwise.tail);
                matches!(shape, Shape::If { .. }).then_some(*only)
            }
            _ => None,
        };
        if let Some(node) = chained {
            let lead = "otherwise, ".to_owned();
            let tail = otherwise.tail;
            self.wait_for(vec![Waiting::Statement { node, tail, depth, lead }]);
        } else if let (Some(first), Some(second)) = (self.short(&then), self.short(&otherwise))
            && first.chars().count() + second.chars().count() <= INLINE_CHARS_MAX
        {
            return self.step(depth, &format!("{lead}{asked}, {first}; otherwise, {second}"));
        } else {
            let lead = "otherwise".to_owned();
            self.wait_for(vec![Waiting::Block { block: otherwise, depth, lead }]);
        }
        self.block_step(then, depth, &format!("{lead}{asked}"));
    }

    fn choice(
        &mut self,
        subject: Option<&'a str>,
        cases: Vec<Case<'a, 't>>,
        depth: usize,
        lead: &str,
    ) {
        if depth + 1 > NESTING_MAX {
            let count = cases.len();
            return self.step(depth, &format!("{lead}chooses one of {count} cases (left out)"));
        }
        self.step(
            depth,
            &match subject {
                Some("true" | "case") => format!("{lead}takes the first case that holds:"),
                Some(subject) => format!("{lead}chooses by the value of {}:", code(subject)),
                None => format!("{lead}waits for the first of these:"),
            },
        );
        let mut waiting = Vec::new();
        let mut fallen: Vec<&str> = Vec::new();
        let left_out = cases.len().saturating_sub(CASES_MAX);
        let count = cases.len();
        for (position, mut case) in cases.into_iter().enumerate().take(CASES_MAX) {
            let is_default = case.patterns.is_empty();
            let falls = case.end == CaseEnd::FallsThrough && position + 1 < count;
            case.patterns.splice(0..0, std::mem::take(&mut fallen));
            if case.body.statements.is_empty() && falls && !is_default {
                fallen = case.patterns;
                continue;
            }
            let lead = case_lead(&case, is_default);
            waiting.push(Waiting::Block { block: case.body, depth: depth + 1, lead });
            if falls {
                let text = "after that, goes on with the next case".to_owned();
                waiting.push(Waiting::Step { depth: depth + 1, text });
            }
        }
        if left_out > 0 {
            let text = format!("{left_out} more cases are left out");
            waiting.push(Waiting::Step { depth: depth + 1, text });
        }
        self.wait_for(waiting);
    }

    fn attempt(
        &mut self,
        body: Block<'t>,
        handlers: Vec<Handler<'a, 't>>,
        (otherwise, finally): (Option<Block<'t>>, Option<Block<'t>>),
        depth: usize,
        lead: &str,
    ) {
        let mut waiting = Vec::new();
        for handler in handlers {
            let lead = match handler.of {
                Some(of) => format!("on {}", code(of)),
                None => "on any failure".to_owned(),
            };
            waiting.push(Waiting::Block { block: handler.body, depth, lead });
        }
        let without = otherwise.map(|block| (block, "if nothing fails"));
        let always = finally.map(|block| (block, "in any case, at the end"));
        for (block, lead) in without.into_iter().chain(always) {
            waiting.push(Waiting::Block { block, depth, lead: lead.to_owned() });
        }
        self.wait_for(waiting);
        self.block_step(body, depth, &format!("{lead}tries the following"));
    }

    fn long(
        &mut self,
        whole: &Action<'a>,
        head: LongHead<'a>,
        body: Block<'t>,
        depth: usize,
        lead: &str,
    ) {
        if action_fits(whole) {
            return self.step(depth, &format!("{lead}{}", clause(whole)));
        }
        let LongHead::Call { callee, parameters } = head else {
            if let ([chosen], Action::Set { target, .. }) = (body.statements.as_slice(), whole) {
                let lead = format!("{lead}to set {}, ", code(target));
                let (node, tail) = (*chosen, body.tail);
                return self.wait_for(vec![Waiting::Statement { node, tail, depth, lead }]);
            }
            let target = match whole {
                Action::Set { target, .. } => format!("{lead}sets {} as follows", code(target)),
                Action::Defer(_) => format!("{lead}when the function returns"),
                Action::Start(_) => format!("{lead}starts, concurrently"),
                other => format!("{lead}{}", clause(other)),
            };
            return self.nested(body, depth, &target);
        };
        let verb = match whole {
            Action::Set { target, .. } => format!("sets {} to the result of", code(target)),
            Action::Return(_) => "returns the result of".to_owned(),
            Action::Value(_) => "gives the result of".to_owned(),
            Action::Await(_) => "waits for".to_owned(),
            _ => "calls".to_owned(),
        };
        let given = match parameters {
            Some(parameters) => format!("with a function of {}", code(parameters)),
            None => "with a function".to_owned(),
        };
        self.block_step(body, depth, &format!("{lead}{verb} {} {given}", code(callee)));
    }

    /// Returns the only clause of a block that leaves it: the body of a guard.
    fn only_exit(&self, block: &Block<'t>) -> Option<String> {
        let [only] = block.statements.as_slice() else { return None };
        match (self.rules.shape)(*only, self.text, block.tail) {
            Shape::Action(action) if action.leaves() && self.is_asked(*only) => {
                Some(clause(&action))
            }
            _ => None,
        }
    }

    /// Returns the clauses of a block if they are few and simple.
    fn short(&self, block: &Block<'t>) -> Option<String> {
        let mut clauses = Vec::new();
        let mut open: Vec<(Node<'t>, Tail)> = Vec::new();
        let add = |open: &mut Vec<(Node<'t>, Tail)>, block: &Block<'t>| {
            let all = block.statements.iter().enumerate().rev();
            open.extend(all.map(|(position, node)| (*node, block.tail_of(position))));
        };
        add(&mut open, block);
        while let Some((node, tail)) = open.pop() {
            if !self.is_asked(node) || clauses.len() >= INLINE_CLAUSES_MAX || open.len() > 16 {
                return None;
            }
            match (self.rules.shape)(node, self.text, tail) {
                Shape::Skip => {}
                Shape::Action(action) => clauses.push(clause(&action)),
                Shape::Inline(inner) => add(&mut open, &inner),
                Shape::Long { whole, .. } if action_fits(&whole) => clauses.push(clause(&whole)),
                Shape::If { before: None, sense, condition: asked, then, otherwise: None } => {
                    let exit = self.only_exit(&then)?;
                    clauses.push(format!("{exit} {}", condition(sense, asked)));
                }
                _ => return None,
            }
        }
        let all = match clauses.is_empty() {
            true => "does nothing".to_owned(),
            false => clauses.join(", then "),
        };
        (all.chars().count() <= INLINE_CHARS_MAX).then_some(all)
    }
}

fn case_lead(case: &Case<'_, '_>, is_default: bool) -> String {
    let patterns: Vec<String> = case.patterns.iter().map(|pattern| code(pattern)).collect();
    let patterns = match (patterns.is_empty(), is_default) {
        (true, _) => return "in all other cases".to_owned(),
        (false, true) => format!("for {} and in all other cases", patterns.join(" or ")),
        (false, false) => format!("for {}", patterns.join(" or ")),
    };
    match case.guard {
        Some(guard) => format!("{patterns} if {}", code(guard)),
        None => patterns,
    }
}

/// Returns whether all of an action can be shown.
fn action_fits(action: &Action<'_>) -> bool {
    match action {
        Action::Set { value, .. } => fits(value),
        Action::Return(Some(text))
        | Action::Value(text)
        | Action::Call(text)
        | Action::Await(text)
        | Action::Defer(text)
        | Action::Start(text) => fits(text),
        _ => true,
    }
}
