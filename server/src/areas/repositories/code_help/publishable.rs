//! What may be said of a file: nothing that seems to be a secret, and nothing that a program which
//! shows Markdown would take for a link, an image or a tag. The rules are those of quotes.

use std::borrow::Cow;

use super::model::{Documentation, Explanation, Input, MethodDocumentation};
use crate::areas::repositories::quotes::{
    REDACTED, contains_secret, is_visible, without_markup, without_secrets,
};
use crate::areas::repositories::source::{FileOutline, Parameter, Symbol};

/// Returns a text and its outline without secrets.
pub(super) fn without_any_secret<'a>(
    text: &'a str,
    outline: &'a FileOutline,
) -> (Cow<'a, str>, Cow<'a, FileOutline>) {
    let text = without_secrets(text);
    // What an outline says is in the text, though a part of it may not show that it is secret.
    let is_clean = matches!(text, Cow::Borrowed(_));
    let outline = if is_clean { Cow::Borrowed(outline) } else { Cow::Owned(clean(outline)) };
    (text, outline)
}

fn clean(outline: &FileOutline) -> FileOutline {
    let mut outline = outline.clone();
    outline.doc.iter_mut().for_each(redact);
    outline.imports.retain(|import| !contains_secret(&import.path));
    outline.symbols.iter_mut().for_each(redact_symbol);
    outline
}

fn redact(text: &mut String) {
    if let Cow::Owned(clean) = without_secrets(text) {
        *text = clean;
    }
}

fn redact_symbol(symbol: &mut Symbol) {
    redact(&mut symbol.signature);
    symbol.doc.iter_mut().for_each(redact);
    symbol.returns.iter_mut().for_each(redact);
    symbol.parameters.iter_mut().for_each(redact_parameter);
}

fn redact_parameter(parameter: &mut Parameter) {
    parameter.type_name.iter_mut().for_each(redact);
    if let Some(default) = &mut parameter.default
        && contains_secret(&format!("{} = {default}", parameter.name))
    {
        *default = REDACTED.to_owned();
    }
}

/// Returns an explanation whose sentences have no markup.
pub(super) fn explanation(mut explanation: Explanation) -> Explanation {
    let outputs = &mut explanation.outputs;
    let sentences = [&mut explanation.summary, &mut outputs.success, &mut outputs.failure];
    let lists = explanation.steps.iter_mut().chain(&mut explanation.dependencies);
    sentences.into_iter().chain(lists).for_each(escape);
    explanation.inputs.iter_mut().for_each(input);
    explanation
}

/// Returns documentation whose sentences have no markup. Examples are code.
pub(super) fn documentation(mut documentation: Documentation) -> Documentation {
    escape(&mut documentation.overview);
    documentation.methods.iter_mut().for_each(method);
    documentation
}

fn method(method: &mut MethodDocumentation) {
    escape(&mut method.description);
    show(&mut method.name);
    for parameter in &mut method.parameters {
        show(&mut parameter.name);
        show(&mut parameter.type_name);
        escape(&mut parameter.description);
    }
}

fn input(input: &mut Input) {
    show(&mut input.name);
    show(&mut input.type_name);
    escape(&mut input.description);
}

fn escape(text: &mut String) {
    *text = without_markup(text);
}

/// Leaves out what cannot be seen of code.
fn show(code: &mut String) {
    code.retain(is_visible);
}
