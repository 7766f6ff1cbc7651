//! Every rule about an annotation and its function. What comes out is ready to be quoted.

mod asks;
mod redact;
mod signature;
mod text;

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::{LitStr, Path};

use crate::attr::{self, Argument, ArgumentValue, Faults};

pub use asks::{Asks, Class};
pub use signature::{Function, Parameter, function};

/// What an annotation says, checked.
pub struct Declaration {
    pub actum: Option<Path>,
    pub id: LitStr,
    pub description: LitStr,
    pub title: Option<LitStr>,
    pub selection_token: Option<LitStr>,
    pub egress_channels: Option<Vec<LitStr>>,
    pub egress_class: Option<LitStr>,
    pub asks: Asks,
    pub resource: Option<LitStr>,
    pub prompt: bool,
    pub redact: Vec<(LitStr, LitStr)>,
    pub check: Option<Path>,
    pub approval_required: bool,
    pub idempotency_key_required: bool,
    pub non_delegable: bool,
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

const ARGUMENTS: [&str; 24] = [
    "id",
    "description",
    "title",
    "approval_required",
    "selection_token",
    "idempotency_key_required",
    "egress",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "non_delegable",
    "class",
    "requires",
    "roles",
    "modes",
    "reads_secrets",
    "escape_hatch",
    "interaction",
    "resource",
    "prompt",
    "redact",
    "check",
    "crate",
];

/// Words that people write for an argument, and that are too far from it to be found by likeness.
const OTHER_WORDS: [(&str, &str); 24] = [
    ("name", "id"),
    ("action", "id"),
    ("desc", "description"),
    ("doc", "description"),
    ("summary", "description"),
    ("help", "description"),
    ("approval", "approval_required"),
    ("requires_approval", "approval_required"),
    ("readonly", "read_only"),
    ("selection", "selection_token"),
    ("idempotency_key", "idempotency_key_required"),
    ("channels", "egress"),
    ("claim", "requires"),
    ("claims", "requires"),
    ("scope", "requires"),
    ("scopes", "requires"),
    ("permission", "requires"),
    ("permissions", "requires"),
    ("secret", "reads_secrets"),
    ("secrets", "reads_secrets"),
    ("mask", "redact"),
    ("uri", "resource"),
    ("address", "resource"),
    ("template", "resource"),
];

/// Checks the arguments; `None` when what is required is not there. Faults are told either way.
pub fn declaration(arguments: &[Argument], faults: &mut Faults) -> Option<Declaration> {
    let misspelt = unknown_and_repeated(arguments, &ARGUMENTS, "#[action]", faults);
    let find = |name: &str| find(arguments, name);
    let mut required = |name: &str, for_example: &str| {
        // A misspelt name is told once, with the right one.
        if find(name).is_none() && !misspelt.contains(&name) {
            faults.push(
                Span::call_site(),
                format_args!("`#[action]` lacks `{name} = \"...\"`, {for_example}"),
            );
        }
    };
    required("id", "such as `id = \"mail.read\"`");
    required("description", "one line that tells a model what this does");

    let mut text_of = |name: &str| find(name).and_then(|argument| text(argument, faults));
    let id = text_of("id");
    let description = text_of("description");
    let title = text_of("title");
    let selection_token = text_of("selection_token");
    let resource = text_of("resource");
    let mut flag = |name: &str| find(name).is_some_and(|argument| is_flag(argument, faults));
    let approval_required = flag("approval_required");
    let idempotency_key_required = flag("idempotency_key_required");
    let non_delegable = flag("non_delegable");
    let read_only = flag("read_only");
    let destructive = flag("destructive");
    let idempotent = flag("idempotent");
    let open_world = flag("open_world");
    let prompt = flag("prompt");
    let mut path_of = |name: &str, form: &str| find(name).and_then(|it| path(it, form, faults));
    let actum = path_of(
        "crate",
        "`crate` takes the path of the `actum` crate, where it is not `::actum`: `crate = facade::actum`",
    );
    let check = path_of(
        "check",
        "`check` takes the name of a function that looks at the arguments: `check = is_plausible`",
    );
    let (egress_channels, egress_class) =
        find("egress").map_or((None, None), |argument| egress(argument, faults));

    if let Some(id) = &id {
        text::check_id(id, faults);
    }
    if let Some(description) = &description {
        text::check_line("description", description, text::MAX_DESCRIPTION, faults);
    }
    if let Some(title) = &title {
        text::check_line("title", title, text::MAX_TITLE, faults);
    }
    if let Some(token) = &selection_token {
        text::check_word("selection_token", token, faults);
    }
    if let (true, true, Some(argument)) = (read_only, destructive, find("destructive")) {
        faults.push(
            argument.name.span(),
            "an action is `read_only` or `destructive`, not both; drop one",
        );
    }
    read_by_itself(arguments, faults);
    let asks = asks::asks(arguments, &misspelt, faults);
    let redact = find("redact").map_or_else(Vec::new, |argument| redact::redact(argument, faults));
    Some(Declaration {
        actum,
        id: id?,
        description: description?,
        title,
        selection_token,
        egress_channels,
        egress_class,
        asks,
        resource,
        prompt,
        redact,
        check,
        approval_required,
        idempotency_key_required,
        non_delegable,
        read_only,
        destructive,
        idempotent,
        open_world,
    })
}

/// What is read at an address, or chosen as a prompt, is answered at once: nothing changes by it, and nothing has to be
/// presented or waited for.
fn read_by_itself(arguments: &[Argument], faults: &mut Faults) {
    const WAITS: [&str; 3] = [
        "approval_required",
        "selection_token",
        "idempotency_key_required",
    ];
    let ways = ["resource", "prompt"].into_iter();
    for way in ways.filter_map(|name| find(arguments, name)) {
        let name = &way.name;
        if find(arguments, "read_only").is_none() {
            faults.push(
                name.span(),
                format_args!("a `{name}` changes nothing; add `read_only`, or drop `{name}`"),
            );
        }
        for other in WAITS.into_iter().filter_map(|name| find(arguments, name)) {
            let other = &other.name;
            faults.push(
                other.span(),
                format_args!("a `{name}` is answered at once, and nothing can be presented with it; drop `{other}` or `{name}`"),
            );
        }
    }
}

fn find<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Argument> {
    arguments.iter().find(|argument| argument.name == name)
}

/// Tells unknown and repeated arguments; gives back the known ones that the unknown ones mean.
fn unknown_and_repeated(
    arguments: &[Argument],
    known: &[&'static str],
    of: &str,
    faults: &mut Faults,
) -> Vec<&'static str> {
    let mut meant = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let name = argument.name.to_string();
        if !known.contains(&name.as_str()) {
            let near = nearest(&name, known);
            let hint = near.map_or_else(
                || format!("known are {}", quoted(known)),
                |near| format!("did you mean `{near}`?"),
            );
            faults.push(
                argument.name.span(),
                format_args!("unknown argument `{name}` of `{of}`; {hint}"),
            );
            meant.extend(near);
        } else if find(arguments.get(..index).unwrap_or_default(), &name).is_some() {
            faults.push(
                argument.name.span(),
                format_args!("`{name}` is given twice; keep one"),
            );
        }
    }
    meant
}

fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let other_word = OTHER_WORDS.iter().find(|(word, _)| *word == name);
    if let Some((_, meant)) = other_word {
        return known.iter().find(|candidate| *candidate == meant).copied();
    }
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&name, candidate), *candidate))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The place of a value that has not the form it should have; `None` where that is told already.
fn place(argument: &Argument) -> Option<Span> {
    match &argument.value {
        ArgumentValue::Broken => None,
        ArgumentValue::Flag | ArgumentValue::List(_) => Some(argument.name.span()),
        ArgumentValue::Text(text) => Some(text.span()),
        ArgumentValue::Path(path) => Some(syn::spanned::Spanned::span(path)),
        ArgumentValue::Texts(_, span) | ArgumentValue::Macro(span) | ArgumentValue::Other(span) => {
            Some(*span)
        }
    }
}

fn text(argument: &Argument, faults: &mut Faults) -> Option<LitStr> {
    if let ArgumentValue::Text(text) = &argument.value {
        return Some(text.clone());
    }
    let name = &argument.name;
    let why = match &argument.value {
        ArgumentValue::Path(_) | ArgumentValue::Macro(_) => {
            "; what a constant or a macro stands for is not known here yet, so write it out"
        }
        _ => "",
    };
    faults.push(
        place(argument)?,
        format_args!("`{name}` takes one string literal: `{name} = \"...\"`{why}"),
    );
    None
}

fn is_flag(argument: &Argument, faults: &mut Faults) -> bool {
    if matches!(argument.value, ArgumentValue::Flag) {
        return true;
    }
    let name = &argument.name;
    if place(argument).is_some() {
        faults.push(
            name.span(),
            format_args!("`{name}` is a flag: write `{name}` alone, or leave it out"),
        );
    }
    false
}

fn path(argument: &Argument, form: &str, faults: &mut Faults) -> Option<Path> {
    if let ArgumentValue::Path(path) = &argument.value {
        return Some(path.clone());
    }
    faults.push(place(argument)?, form);
    None
}

fn egress(argument: &Argument, faults: &mut Faults) -> (Option<Vec<LitStr>>, Option<LitStr>) {
    const FORM: &str =
        "`egress` is written `egress(channels = [\"...\"], class = \"...\")`, with either or both";
    let ArgumentValue::List(tokens) = &argument.value else {
        if place(argument).is_some() {
            faults.push(argument.name.span(), FORM);
        }
        return (None, None);
    };
    let inner = attr::parse(tokens.clone(), faults);
    unknown_and_repeated(&inner, &["channels", "class"], "egress(...)", faults);
    if tokens.is_empty() {
        faults.push(
            argument.name.span(),
            format_args!("this says nothing; {FORM}"),
        );
    }
    let channels = find(&inner, "channels").and_then(|argument| channels(argument, faults));
    let class = find(&inner, "class").and_then(|argument| text(argument, faults));
    if let Some(class) = &class {
        text::check_not_empty("the egress class", class, faults);
    }
    (channels, class)
}

fn channels(argument: &Argument, faults: &mut Faults) -> Option<Vec<LitStr>> {
    match &argument.value {
        ArgumentValue::Texts(channels, span) if channels.is_empty() => {
            faults.push(
                *span,
                "no grant satisfies an empty list of channels; leave `channels` out if nothing is written",
            );
            None
        }
        ArgumentValue::Texts(channels, _) => {
            let mut seen = BTreeSet::new();
            for channel in channels {
                text::check_not_empty("the channel", channel, faults);
                if !seen.insert(channel.value()) {
                    faults.push(channel.span(), "this channel stands here twice; drop one");
                }
            }
            Some(channels.clone())
        }
        _ => {
            faults.push(
                place(argument)?,
                "`channels` takes a list of string literals: `channels = [\"...\"]`",
            );
            None
        }
    }
}
