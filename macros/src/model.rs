//! Every rule about an annotation and its function. What comes out is ready to be quoted.

use proc_macro2::Span;
use syn::{Attribute, FnArg, GenericParam, Ident, LitStr, ReturnType, Signature, Type};

use crate::attr::{Argument, ArgumentValue, Faults, Handler, Syntax};

/// A checked annotation on a checked function.
pub struct Model {
    pub cfgs: Vec<Attribute>,
    pub function: Ident,
    pub is_async: bool,
    pub parameters: Vec<Parameter>,
    pub output: Type,
    pub id: LitStr,
    pub description: LitStr,
    pub title: Option<LitStr>,
    pub selection_token: Option<LitStr>,
    pub egress_channels: Option<Vec<LitStr>>,
    pub egress_class: Option<LitStr>,
    pub approval_required: bool,
    pub non_delegable: bool,
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

/// One parameter of a handler.
pub enum Parameter {
    /// `&T`: given by the host.
    Host(Type),
    /// `T`: filled in by the model.
    Payload(Type),
}

const TEXTS: [&str; 4] = ["id", "description", "title", "selection_token"];
const FLAGS: [&str; 6] = [
    "approval_required",
    "non_delegable",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
];
const ALL: [&str; 11] = [
    "id",
    "description",
    "title",
    "approval_required",
    "selection_token",
    "egress",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "non_delegable",
];

const MAX_DESCRIPTION: usize = 1024;
const MAX_TITLE: usize = 128;
const MAX_TOOL_NAME: usize = 64;

/// Checks everything; `None` when no model can be made. Faults are told either way.
pub fn check(syntax: &Syntax, handler: &Handler, faults: &mut Faults) -> Option<Model> {
    repeated_and_unknown(&syntax.arguments, &ALL, "#[action]", faults);
    let find = |name: &str| {
        syntax
            .arguments
            .iter()
            .find(|argument| argument.name == name)
    };
    let flag = |name: &str, faults: &mut Faults| find(name).is_some_and(|a| is_flag(a, faults));

    let [id, description, title, selection_token] =
        TEXTS.map(|name| find(name).and_then(|argument| text(argument, faults)));
    let [
        approval_required,
        non_delegable,
        read_only,
        destructive,
        idempotent,
        open_world,
    ] = FLAGS.map(|name| flag(name, faults));
    let (egress_channels, egress_class) =
        find("egress").map_or((None, None), |a| egress(a, faults));

    if find("id").is_none() {
        faults.push(
            Span::call_site(),
            "`#[action]` lacks `id = \"...\"`, such as `id = \"mail.read\"`",
        );
    }
    if find("description").is_none() {
        faults.push(
            Span::call_site(),
            "`#[action]` lacks `description = \"...\"`: one line that tells a model what this does",
        );
    }
    if let Some(id) = &id {
        check_id(id, faults);
    }
    if let Some(description) = &description {
        check_line("description", description, MAX_DESCRIPTION, faults);
    }
    if let Some(title) = &title {
        check_line("title", title, MAX_TITLE, faults);
    }
    if let Some(token) = &selection_token {
        check_word("selection_token", token, faults);
    }
    if let (true, true, Some(argument)) = (read_only, destructive, find("destructive")) {
        faults.push(
            argument.name.span(),
            "an action is `read_only` or `destructive`, not both; drop one",
        );
    }
    let parameters = parameters(&handler.signature, faults);
    let output = output(&handler.signature, faults);

    Some(Model {
        cfgs: handler
            .attributes
            .iter()
            .filter(|a| a.path().is_ident("cfg"))
            .cloned()
            .collect(),
        function: handler.signature.ident.clone(),
        is_async: handler.signature.asyncness.is_some(),
        parameters,
        output: output?,
        id: id?,
        description: description?,
        title,
        selection_token,
        egress_channels,
        egress_class,
        approval_required,
        non_delegable,
        read_only,
        destructive,
        idempotent,
        open_world,
    })
}

fn repeated_and_unknown(arguments: &[Argument], known: &[&str], of: &str, faults: &mut Faults) {
    for (index, argument) in arguments.iter().enumerate() {
        let name = argument.name.to_string();
        if !known.contains(&name.as_str()) {
            let hint = nearest(&name, known).map_or_else(
                || format!("known are {}", quoted(known)),
                |near| format!("did you mean `{near}`?"),
            );
            faults.push(
                argument.name.span(),
                format!("unknown argument `{name}` of `{of}`; {hint}"),
            );
        } else if arguments
            .iter()
            .take(index)
            .any(|earlier| earlier.name == argument.name)
        {
            faults.push(
                argument.name.span(),
                format!("`{name}` is given twice; keep one"),
            );
        }
    }
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let aliases = [
        ("name", "id"),
        ("desc", "description"),
        ("doc", "description"),
        ("summary", "description"),
        ("approval", "approval_required"),
        ("readonly", "read_only"),
        ("channels", "egress"),
    ];
    if let Some((_, target)) = aliases.iter().find(|(alias, _)| *alias == name) {
        return known.iter().find(|k| *k == target).copied();
    }
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
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

fn text(argument: &Argument, faults: &mut Faults) -> Option<LitStr> {
    let name = &argument.name;
    let span = match &argument.value {
        ArgumentValue::Text(text) => return Some(text.clone()),
        ArgumentValue::Flag | ArgumentValue::Nested(_) => name.span(),
        ArgumentValue::Texts(_, span) | ArgumentValue::Other(span) => *span,
    };
    faults.push(
        span,
        format!("`{name}` takes one string literal: `{name} = \"...\"`"),
    );
    None
}

fn is_flag(argument: &Argument, faults: &mut Faults) -> bool {
    if matches!(argument.value, ArgumentValue::Flag) {
        return true;
    }
    let name = &argument.name;
    faults.push(
        name.span(),
        format!("`{name}` is a flag: write `{name}` alone, or leave it out"),
    );
    false
}

fn egress(argument: &Argument, faults: &mut Faults) -> (Option<Vec<LitStr>>, Option<LitStr>) {
    const FORM: &str =
        "`egress` is written `egress(channels = [\"...\"], class = \"...\")`, with either or both";
    let ArgumentValue::Nested(inner) = &argument.value else {
        faults.push(argument.name.span(), FORM);
        return (None, None);
    };
    repeated_and_unknown(inner, &["channels", "class"], "egress(...)", faults);
    if inner.is_empty() {
        faults.push(argument.name.span(), format!("this says nothing; {FORM}"));
    }
    let find = |name: &str| inner.iter().find(|argument| argument.name == name);
    let channels = find("channels").and_then(|argument| match &argument.value {
        ArgumentValue::Texts(channels, span) if channels.is_empty() => {
            faults.push(*span, "an empty list of channels can never be granted; leave `channels` out if nothing is written");
            None
        }
        ArgumentValue::Texts(channels, _) => {
            channels.iter().for_each(|channel| check_not_empty("a channel", channel, faults));
            Some(channels.clone())
        }
        _ => {
            faults.push(argument.name.span(), "`channels` takes a list of string literals: `channels = [\"...\"]`");
            None
        }
    });
    let class = find("class").and_then(|argument| text(argument, faults));
    if let Some(class) = &class {
        check_not_empty("`class`", class, faults);
    }
    (channels, class)
}

/// The grammar of `actum::id`, told with the remedy at hand. The expansion has the compiler check
/// the id once more with the function that the kernel itself uses.
fn check_id(id: &LitStr, faults: &mut Faults) {
    let text = id.value();
    if text.is_empty() {
        faults.push(id.span(), "an action id cannot be empty");
        return;
    }
    let is_segment = |segment: &str| {
        segment.starts_with(|c: char| c.is_ascii_lowercase())
            && segment
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let (dotted, qualifier) = match text.split_once(':') {
        Some((dotted, qualifier)) => (dotted, Some(qualifier)),
        None => (text.as_str(), None),
    };
    if !dotted.split('.').all(is_segment) || !qualifier.is_none_or(is_segment) {
        let tidy: String = text
            .trim()
            .to_ascii_lowercase()
            .chars()
            .map(|c| {
                if c == '-' || c.is_whitespace() {
                    '_'
                } else {
                    c
                }
            })
            .collect();
        let hint = if tidy != text
            && tidy.split([':', '.']).all(is_segment)
            && tidy.matches(':').count() < 2
        {
            format!("; did you mean `{tidy}`?")
        } else {
            String::new()
        };
        faults.push(
            id.span(),
            format!(
                "`{}` is no action id: dotted lower-case segments with an optional `:qualifier`, such as `mail.read_thread:selected`{hint}",
                text.escape_debug()
            ),
        );
        return;
    }
    let name_length = text.len() + text.matches(':').count();
    if name_length > MAX_TOOL_NAME {
        faults.push(
            id.span(),
            format!("this id makes a tool name of {name_length} characters; providers take {MAX_TOOL_NAME} (a `:` counts as two)"),
        );
    }
}

fn check_line(name: &str, text: &LitStr, max: usize, faults: &mut Faults) {
    let value = text.value();
    if value.trim().is_empty() {
        faults.push(
            text.span(),
            format!("the {name} is empty; write one line for a model that sees nothing else"),
        );
    } else if value.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        faults.push(text.span(), format!("the {name} has several lines; write one, and put the rest into the payload's doc comments"));
    } else if value.trim() != value {
        faults.push(
            text.span(),
            format!("the {name} begins or ends with white space; drop it"),
        );
    } else if value.chars().any(char::is_control) {
        faults.push(
            text.span(),
            format!("the {name} has a control character; drop it"),
        );
    } else if value.chars().count() > max {
        faults.push(
            text.span(),
            format!(
                "the {name} has {} characters, at most {max} are allowed",
                value.chars().count()
            ),
        );
    }
}

fn check_word(name: &str, text: &LitStr, faults: &mut Faults) {
    let value = text.value();
    let fits = value.starts_with(|c: char| c.is_ascii_lowercase())
        && value
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !fits {
        faults.push(
            text.span(),
            format!("`{name}` takes a lower-case word such as \"email_thread_selection\""),
        );
    }
}

fn check_not_empty(what: &str, text: &LitStr, faults: &mut Faults) {
    if text.value().trim().is_empty() {
        faults.push(text.span(), format!("{what} is empty"));
    }
}

const SIGNATURE_RULE: &str = "what the host gives is taken by reference, what the model fills in is the one parameter by value";

fn parameters(signature: &Signature, faults: &mut Faults) -> Vec<Parameter> {
    for parameter in &signature.generics.params {
        let what = match parameter {
            GenericParam::Lifetime(_) => "a lifetime parameter",
            GenericParam::Type(_) => "a type parameter",
            GenericParam::Const(_) => "a const parameter",
        };
        faults.push_over(
            parameter,
            format!("an action is one function, so it cannot have {what}; name the type"),
        );
    }
    if let (Some(clause), true) = (
        &signature.generics.where_clause,
        signature.generics.params.is_empty(),
    ) {
        faults.push_over(clause, "a handler has no `where` clause");
    }
    if let Some(word) = &signature.constness {
        faults.push_over(word, "a handler cannot be `const`");
    }
    if let Some(abi) = &signature.abi {
        faults.push_over(abi, "a handler cannot be `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        faults.push_over(variadic, "a handler cannot be variadic");
    }
    let mut payload_seen = false;
    let mut parameters = Vec::new();
    for input in &signature.inputs {
        let typed = match input {
            FnArg::Receiver(receiver) => {
                faults.push_over(
                    receiver,
                    format!("a handler is a free function and has no `self`; {SIGNATURE_RULE}"),
                );
                continue;
            }
            FnArg::Typed(typed) => typed,
        };
        match &*typed.ty {
            Type::Reference(reference) if reference.mutability.is_some() => {
                faults.push_over(reference, "the host shares its values between calls, so a handler takes `&T`; put what changes behind a mutex");
            }
            Type::Reference(reference) if reference.lifetime.is_some() => {
                faults.push_over(&reference.lifetime, "a handler borrows for the length of one call; drop the lifetime");
            }
            Type::Reference(reference) => match &*reference.elem {
                Type::TraitObject(object) => faults.push_over(object, "the host's values are found by their type, and a trait object has none; take `&T` of a concrete type that holds it"),
                Type::ImplTrait(inner) => faults.push_over(inner, "an action is one function, so it cannot have an `impl Trait` parameter; name the type"),
                Type::Slice(inner) => faults.push_over(inner, "the host's values are found by their type; take `&Vec<T>` or a type of your own"),
                Type::Path(path) if path.path.is_ident("str") => faults.push_over(path, "the host's values are found by their type; take a type of your own, or put the text into the payload"),
                inner => parameters.push(Parameter::Host(inner.clone())),
            },
            Type::ImplTrait(inner) => {
                faults.push_over(inner, "an action is one function, so it cannot have an `impl Trait` parameter; name the type");
            }
            payload if payload_seen => {
                faults.push_over(payload, format!("a second parameter by value; {SIGNATURE_RULE}: put both into one struct, or take this one as `&T`"));
            }
            payload => {
                payload_seen = true;
                parameters.push(Parameter::Payload(payload.clone()));
            }
        }
    }
    parameters
}

fn output(signature: &Signature, faults: &mut Faults) -> Option<Type> {
    const FORM: &str = "a handler returns `Result<T, ActionError>`";
    match &signature.output {
        ReturnType::Default => {
            faults.push_over(
                &signature.ident,
                format!(
                    "{FORM}; write `-> Result<(), ActionError>` where there is nothing to return"
                ),
            );
            None
        }
        ReturnType::Type(_, output) => match &**output {
            Type::ImplTrait(inner) => {
                faults.push_over(
                    inner,
                    format!("{FORM}; write `async fn` instead of returning a future"),
                );
                None
            }
            Type::Reference(inner) => {
                faults.push_over(inner, format!("{FORM}, with an owned `T`"));
                None
            }
            output => Some(output.clone()),
        },
    }
}
