//! What an action asks of whoever calls it: class, claims, roles, modes, and policies of its own.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{LitStr, Token};

use super::{find, place, text, unknown_and_repeated};
use crate::attr::{self, Argument, ArgumentValue, Faults};

/// What stands in an annotation, checked.
#[derive(Default)]
pub struct Asks {
    /// The variant's name, at the place of the word.
    pub class: Option<syn::Ident>,
    pub claims: Vec<LitStr>,
    pub roles: Vec<LitStr>,
    pub modes: Vec<LitStr>,
    pub reads_secrets: bool,
    pub escape_hatch: Option<(LitStr, LitStr)>,
    pub interaction: Option<LitStr>,
}

impl Asks {
    /// Whether there is nothing of it.
    pub fn is_nothing(&self) -> bool {
        let lists = [&self.claims, &self.roles, &self.modes];
        self.class.is_none()
            && lists.iter().all(|list| list.is_empty())
            && !self.reads_secrets
            && self.escape_hatch.is_none()
            && self.interaction.is_none()
    }
}

const CLASSES: [(&str, &str); 3] = [
    ("control_plane", "ControlPlane"),
    ("always", "Always"),
    ("optional", "Optional"),
];

/// The longest claim, role or mode, in bytes; that of manifests.
const MAX_WORD: usize = 128;

/// Reads all of it, and what does not go together.
pub fn asks(arguments: &[Argument], faults: &mut Faults) -> Asks {
    let of = |name: &str| find(arguments, name);
    let class = of("class").and_then(|argument| class(argument, faults));
    let mut words = |name: &str, example: &str| {
        of(name).map_or_else(Vec::new, |argument| words(argument, example, faults))
    };
    let claims = words("requires", "tasks:read");
    let roles = words("roles", "approver");
    let modes = words("modes", "standard");
    let asks = Asks {
        reads_secrets: of("reads_secrets").is_some_and(|it| super::is_flag(it, faults)),
        escape_hatch: of("escape_hatch").and_then(|argument| escape_hatch(argument, faults)),
        interaction: of("interaction").and_then(|argument| text(argument, faults)),
        class,
        claims,
        roles,
        modes,
    };
    let named = asks.class.as_ref().map(ToString::to_string);
    let mut clash = |name: &str, told: &str| {
        if let Some(argument) = of(name) {
            faults.push(argument.name.span(), told);
        }
    };
    match named.as_deref() {
        Some("Optional") if of("requires").is_none() => clash(
            "class",
            "an optional action is offered to whoever holds its claims; say which: `requires(\"...\")`",
        ),
        Some("Always") => clash(
            "requires",
            "an action that is always offered requires no claim; drop it, or write `class = optional`",
        ),
        Some("ControlPlane") => {
            for name in [
                "requires",
                "roles",
                "modes",
                "reads_secrets",
                "escape_hatch",
                "interaction",
            ] {
                clash(
                    name,
                    "no actor calls what is the control plane's own, so nothing is asked of one; drop it",
                );
            }
        }
        None if of("class").is_none() => clash(
            "requires",
            "claims offer an action only if its class says so; add `class = optional`",
        ),
        _ => {}
    }
    if asks.escape_hatch.is_some() && of("modes").is_none() {
        clash(
            "escape_hatch",
            "an escape hatch is for tests; name their task modes: `modes(\"...\")`",
        );
    }
    asks
}

fn class(argument: &Argument, faults: &mut Faults) -> Option<syn::Ident> {
    let word = match &argument.value {
        ArgumentValue::Path(path) => path.get_ident(),
        _ => None,
    };
    let known = word.and_then(|word| CLASSES.iter().find(|(name, _)| word == name));
    if let (Some(word), Some((_, variant))) = (word, known) {
        return Some(syn::Ident::new(variant, word.span()));
    }
    faults.push(
        place(argument)?,
        "`class` is one of three words: `class = control_plane`, `always` or `optional`",
    );
    None
}

fn words(argument: &Argument, example: &str, faults: &mut Faults) -> Vec<LitStr> {
    let name = &argument.name;
    let form = format!("`{name}` takes string literals: `{name}(\"{example}\")`");
    let ArgumentValue::List(tokens) = &argument.value else {
        if let Some(at) = place(argument) {
            faults.push(at, form);
        }
        return Vec::new();
    };
    let list = syn::parse::Parser::parse2(
        Punctuated::<LitStr, Token![,]>::parse_terminated,
        tokens.clone(),
    );
    let list = match list {
        Ok(list) => list,
        Err(error) => {
            faults.push(error.span(), form);
            return Vec::new();
        }
    };
    if list.is_empty() {
        faults.push(name.span(), format_args!("this names nothing; {form}"));
    }
    let mut seen = BTreeSet::new();
    for word in &list {
        check_word(name, word, faults);
        if !seen.insert(word.value()) {
            faults.push(word.span(), "this stands here twice; drop one");
        }
    }
    list.into_iter().collect()
}

/// A word is compared as it is, so that a blank too many would be a quiet difference.
fn check_word(name: &syn::Ident, word: &LitStr, faults: &mut Faults) {
    let value = word.value();
    if value.trim().is_empty() {
        faults.push(
            word.span(),
            format_args!("`{name}` has an empty text; name something, or drop it"),
        );
    } else if value.trim() != value || value.chars().any(char::is_control) {
        faults.push(
            word.span(),
            "this has white space around it or a control character in it; drop that",
        );
    } else if value.len() > MAX_WORD {
        faults.push(
            word.span(),
            format_args!(
                "this has {} bytes, and at most {MAX_WORD} are allowed; shorten it",
                value.len()
            ),
        );
    }
}

fn escape_hatch(argument: &Argument, faults: &mut Faults) -> Option<(LitStr, LitStr)> {
    const FORM: &str = "`escape_hatch` names the arguments with the method and the path of the request: `escape_hatch(method = \"...\", path = \"...\")`";
    let ArgumentValue::List(tokens) = &argument.value else {
        faults.push(place(argument)?, FORM);
        return None;
    };
    let inner = attr::parse(tokens.clone(), faults);
    unknown_and_repeated(&inner, &["method", "path"], "escape_hatch(...)", faults);
    let method = find(&inner, "method");
    let path = find(&inner, "path");
    let (Some(method), Some(path)) = (method, path) else {
        faults.push(argument.name.span(), FORM);
        return None;
    };
    text(method, faults).zip(text(path, faults))
}

/// `redact("$.path" = "marker", ...)`. The start holds each path against the schemas.
pub fn redact(argument: &Argument, faults: &mut Faults) -> Vec<(LitStr, LitStr)> {
    const FORM: &str = "`redact` takes paths, each with what stands there instead: `redact(\"$.token\" = \"[REDACTED]\")`";
    let mut told = |at: Span| faults.push(at, FORM);
    let ArgumentValue::List(tokens) = &argument.value else {
        if let Some(at) = place(argument) {
            told(at);
        }
        return Vec::new();
    };
    let pair = |input: syn::parse::ParseStream| {
        let path: LitStr = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok((path, input.parse::<LitStr>()?))
    };
    let pairs = |input: syn::parse::ParseStream| {
        Punctuated::<(LitStr, LitStr), Token![,]>::parse_terminated_with(input, pair)
    };
    let pairs = match syn::parse::Parser::parse2(pairs, tokens.clone()) {
        Ok(pairs) => pairs,
        Err(error) => {
            told(error.span());
            return Vec::new();
        }
    };
    if pairs.is_empty() {
        told(argument.name.span());
    }
    let mut seen = BTreeSet::new();
    for (path, marker) in &pairs {
        if !path.value().starts_with('$') {
            faults.push(
                path.span(),
                "a path begins with `$`, which is the whole value: `$.token`",
            );
        }
        super::text::check_not_empty("the text that takes a secret's place", marker, faults);
        if !seen.insert(path.value()) {
            faults.push(path.span(), "this path stands here twice; drop one");
        }
    }
    pairs.into_iter().collect()
}
