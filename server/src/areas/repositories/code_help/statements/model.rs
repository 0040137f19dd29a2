//! What a statement does.

use tree_sitter::Node;

/// What becomes of the value of the last expression of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Tail {
    /// Nothing.
    Unused,
    /// The function returns it.
    Returned,
    /// It is the value of what the block is a part of.
    Value,
}

/// Statements in their order.
#[derive(Clone, Debug)]
pub(in super::super) struct Block<'t> {
    pub(in super::super) statements: Vec<Node<'t>>,
    /// What becomes of the value of the last one.
    pub(in super::super) tail: Tail,
}

/// A statement. All text is verbatim.
#[derive(Clone, Debug)]
pub(in super::super) enum Shape<'a, 't> {
    /// Nothing that is executed.
    Skip,
    /// Something without a block in it.
    Action(Action<'a>),
    /// Statements without anything around them that matters.
    Inline(Block<'t>),
    /// A choice of one or two blocks.
    If {
        /// A statement that is executed before the condition.
        before: Option<&'a str>,
        sense: Sense,
        condition: Condition<'a>,
        then: Block<'t>,
        otherwise: Option<Block<'t>>,
    },
    /// A binding that leaves the block unless a pattern matches.
    BindOrElse { pattern: &'a str, value: &'a str, otherwise: Block<'t> },
    /// A repetition.
    Loop {
        head: LoopHead<'a>,
        body: Block<'t>,
        /// What follows if the loop is not left early.
        otherwise: Option<Block<'t>>,
    },
    /// A choice by a value.
    Match { subject: Option<&'a str>, cases: Vec<Case<'a, 't>> },
    /// A block whose failures are handled.
    Try {
        body: Block<'t>,
        handlers: Vec<Handler<'a, 't>>,
        /// What follows if nothing fails.
        otherwise: Option<Block<'t>>,
        /// What follows in any case.
        finally: Option<Block<'t>>,
    },
    /// A block with something that ends with it.
    With { resource: &'a str, body: Block<'t> },
    /// A statement that others jump to.
    Labelled { label: &'a str, body: Block<'t> },
    /// A block that holds a lock.
    Locked { on: &'a str, body: Block<'t> },
    /// An action with a block in it that is too long to be shown: a call that is given a function,
    /// or a value that is chosen.
    Long { whole: Action<'a>, head: LongHead<'a>, body: Block<'t> },
}

/// The part of a [`Shape::Long`] before its block.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum LongHead<'a> {
    /// A call, with the parameters of the function that it is given.
    Call { callee: &'a str, parameters: Option<&'a str> },
    /// A value that a block computes.
    Value,
}

/// Something without a block in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Action<'a> {
    Return(Option<&'a str>),
    /// The value of the block that it is the last expression of.
    Value(&'a str),
    Yield(Option<&'a str>),
    Fail(Failing, Option<&'a str>),
    Break(Option<&'a str>),
    Continue(Option<&'a str>),
    Goto(&'a str),
    Set {
        target: &'a str,
        value: &'a str,
    },
    /// Sets what is not set yet.
    SetDefault {
        target: &'a str,
        value: &'a str,
    },
    Add {
        target: &'a str,
        value: &'a str,
    },
    Subtract {
        target: &'a str,
        value: &'a str,
    },
    /// Any other change of a variable.
    Update(&'a str),
    Declare(&'a str),
    Define {
        noun: &'static str,
        name: &'a str,
    },
    Import(&'a str),
    Call(&'a str),
    Await(&'a str),
    Evaluate(&'a str),
    Assert(&'a str),
    Delete(&'a str),
    Defer(&'a str),
    /// Runs something beside the function.
    Start(&'a str),
    Send {
        value: &'a str,
        to: &'a str,
    },
    /// Code that the grammar does not know.
    Unparsed(&'a str),
}

/// Whether a condition must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Sense {
    If,
    Unless,
}

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Condition<'a> {
    Holds(&'a str),
    Matches {
        value: &'a str,
        pattern: &'a str,
    },
    /// A branch that the compiler takes or leaves.
    Compiled(&'a str),
}

/// The part of a loop before its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum LoopHead<'a> {
    ForEach {
        item: &'a str,
        of: &'a str,
    },
    /// As often as a number says.
    Times(&'a str),
    While(Condition<'a>),
    Until(&'a str),
    /// At least once.
    AgainWhile(&'a str),
    Counting(&'a str),
    Forever,
}

/// A case of a choice.
#[derive(Clone, Debug)]
pub(in super::super) struct Case<'a, 't> {
    /// Empty for what no other case matches.
    pub(in super::super) patterns: Vec<&'a str>,
    pub(in super::super) guard: Option<&'a str>,
    pub(in super::super) body: Block<'t>,
    pub(in super::super) end: CaseEnd,
}

/// What follows a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum CaseEnd {
    /// What follows the choice.
    Leaves,
    /// The next case.
    FallsThrough,
}

/// What is done about a failure.
#[derive(Clone, Debug)]
pub(in super::super) struct Handler<'a, 't> {
    /// The failures, as written; `None` for all of them.
    pub(in super::super) of: Option<&'a str>,
    pub(in super::super) body: Block<'t>,
}

/// How code fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Failing {
    /// It returns an error.
    Returns,
    /// It returns the error of what it calls.
    PassesOn,
    Raises,
    Throws,
    Panics,
    Rejects,
    /// It checks what must hold.
    Asserts,
    /// It returns nothing if what it calls returns nothing.
    HasNone,
}

/// Where control leaves a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Exit<'a> {
    Returns(&'a str),
    Yields(&'a str),
    Fails(Failing, Option<&'a str>),
}

impl<'t> Block<'t> {
    /// Returns a block whose value is not used.
    pub(in super::super) fn unused(statements: Vec<Node<'t>>) -> Self {
        Self { statements, tail: Tail::Unused }
    }

    /// Returns what becomes of the value of a statement.
    pub(in super::super) fn tail_of(&self, position: usize) -> Tail {
        if position + 1 == self.statements.len() { self.tail } else { Tail::Unused }
    }
}

impl<'t> Shape<'_, 't> {
    /// Returns the blocks in it, in their order.
    pub(in super::super) fn into_blocks(self) -> Vec<Block<'t>> {
        match self {
            Self::Skip | Self::Action(_) => Vec::new(),
            Self::Inline(body)
            | Self::BindOrElse { otherwise: body, .. }
            | Self::With { body, .. }
            | Self::Locked { body, .. }
            | Self::Labelled { body, .. }
            | Self::Long { body, .. } => vec![body],
            Self::Loop { body, otherwise, .. } => [body].into_iter().chain(otherwise).collect(),
            Self::If { then, otherwise, .. } => [then].into_iter().chain(otherwise).collect(),
            Self::Match { cases, .. } => cases.into_iter().map(|case| case.body).collect(),
            Self::Try { body, handlers, otherwise, finally } => {
                let handled = handlers.into_iter().map(|handler| handler.body);
                [body].into_iter().chain(handled).chain(otherwise).chain(finally).collect()
            }
        }
    }
}

impl<'a> Action<'a> {
    /// Returns what is done with the value of an expression.
    pub(in super::super) fn of_value(value: &'a str, tail: Tail, unused: Self) -> Self {
        match tail {
            Tail::Unused => unused,
            Tail::Returned => Self::Return(Some(value)),
            Tail::Value => Self::Value(value),
        }
    }

    /// Returns whether it changes a variable.
    pub(in super::super) fn is_assignment(&self) -> bool {
        matches!(
            self,
            Self::Set { .. }
                | Self::SetDefault { .. }
                | Self::Add { .. }
                | Self::Subtract { .. }
                | Self::Update(_)
        )
    }

    /// Returns whether control does not reach the next statement.
    pub(in super::super) fn leaves(&self) -> bool {
        matches!(
            self,
            Self::Return(_)
                | Self::Value(_)
                | Self::Fail(..)
                | Self::Break(_)
                | Self::Continue(_)
                | Self::Goto(_)
        )
    }
}
