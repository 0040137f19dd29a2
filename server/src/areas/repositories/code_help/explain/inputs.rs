//! The parameters of a function, with what its documentation says of them.

use super::super::docs::{DocParameter, DocSections};
use super::super::excerpt::{code, prose, sentence};
use super::super::limits::{DESCRIPTION_CHARS_MAX, INPUTS_MAX};
use super::super::model::Input;
use crate::areas::repositories::source::{Parameter, Symbol};

/// Describes the parameters of a symbol.
pub(in super::super) fn inputs(symbol: &Symbol, sections: &DocSections) -> Vec<Input> {
    symbol.parameters.iter().take(INPUTS_MAX).map(|of| input(of, sections)).collect()
}

fn input(parameter: &Parameter, sections: &DocSections) -> Input {
    let documented = sections.parameter(&parameter.name);
    let type_name = parameter.type_name.clone();
    let type_name = type_name.or_else(|| documented.and_then(|of| of.type_name.clone()));
    let described = documented
        .map(|of: &DocParameter| sentence(&prose(&of.description, DESCRIPTION_CHARS_MAX)));
    let default = parameter.default.as_deref().filter(|default| !default.is_empty());
    let default = default.map(|default| format!("Default: {}.", code(default)));
    let parts = described.filter(|text| !text.is_empty()).into_iter().chain(default);
    Input {
        name: parameter.name.clone(),
        type_name: type_name.unwrap_or_default(),
        description: parts.collect::<Vec<_>>().join(" "),
    }
}
