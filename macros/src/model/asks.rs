//! What an action asks of whoever calls it: class, claims, roles, modes, and policies of its own.

use std::collections::BTreeSet;

use syn::LitStr;

use super::{find, is_flag, place, text, unknown_and_repeated};
use crate::attr::{self, Argument, ArgumentValue, Faults};

/// What stands in an annotation, checked.
#[derive(Default)]
pub struct Asks {
    pub class: Option<Class>,
    pub claims: Vec<LitStr>,
    pub roles: Vec<LitStr>,
    pub modes: Vec<LitStr>,
    pub reads_secrets: bool,
    /// The names of the arguments with the method and with the path.
    pub escape_hatch: Option<(LitStr, LitStr)>,
    /// The name of the argument with the kind.
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

/// How an actor comes by an action; `actum::Class` says more of each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    ControlPlane,
    Always,
    Optional,
}

const CLASSES: [(&str, Class); 3] = [
    ("control_plane", Class::ControlPlane),
    ("always", Class::Always),
    ("optional", Class::Optional),
];

/// An argument that is a list of words.
struct Words {
    argument: &'static str,
    /// What one of the words is.
    noun: &'static str,
    example: &'static str,
    /// The form in which two of them are compared.
    compared: fn(&str) -> String,
}

const CLAIMS: Words = Words {
    argument: "requires",
    noun: "claim",
    example: "tasks:read",
    compared: str::to_owned,
};
const ROLES: Words = Words {
    argument: "roles",
    noun: "role",
    example: "approver",
    compared: str::to_lowercase,
};
const MODES: Words = Words {
    argument: "modes",
    noun: "task mode",
    example: "standard",
    compared: str::to_owned,
};

/// What speaks of the calls of an actor, and so has no meaning where no actor calls.
const OF_AN_ACTOR: [&str; 10] = [
    "requires",
    "roles",
    "modes",
    "reads_secrets",
    "escape_hatch",
    "interaction",
    "approval_required",
    "selection_token",
    "idempotency_key_required",
    "non_delegable",
];

/// Reads all of it, and what does not go together. `misspelt` are the arguments that are meant by a
/// word which was told already.
pub fn asks(arguments: &[Argument], misspelt: &[&str], faults: &mut Faults) -> Asks {
    let of = |name: &str| find(arguments, name);
    let mut words = |words: &Words| {
        of(words.argument).map_or_else(Vec::new, |argument| words.read(argument, faults))
    };
    let [claims, roles, modes] = [&CLAIMS, &ROLES, &MODES].map(&mut words);
    let asks = Asks {
        class: of("class").and_then(|argument| class(argument, faults)),
        claims,
        roles,
        modes,
        reads_secrets: of("reads_secrets").is_some_and(|argument| is_flag(argument, faults)),
        escape_hatch: of("escape_hatch").and_then(|argument| escape_hatch(argument, faults)),
        interaction: of("interaction").and_then(|argument| name_in(argument, faults)),
    };
    contradictions(asks.class, arguments, misspelt, faults);
    asks
}

/// What does not go together, told at the argument that has to change.
fn contradictions(
    class: Option<Class>,
    arguments: &[Argument],
    misspelt: &[&str],
    faults: &mut Faults,
) {
    let lacks = |name: &str| find(arguments, name).is_none() && !misspelt.contains(&name);
    let mut tell = |name: &str, told: &str| {
        if let Some(argument) = find(arguments, name) {
            faults.push(argument.name.span(), told);
        }
    };
    match class {
        Some(Class::Optional) if lacks("requires") => tell(
            "class",
            "an optional action is offered to whoever holds its claims; say which: `requires(\"...\")`",
        ),
        Some(Class::Always) => tell(
            "requires",
            "an action that is always offered requires no claim; drop it, or write `class = optional`",
        ),
        Some(Class::ControlPlane) => {
            for name in OF_AN_ACTOR {
                tell(
                    name,
                    "no actor calls what is the control plane's own, so nothing is asked of one; drop it",
                );
            }
        }
        None if lacks("class") => tell(
            "requires",
            "claims offer an action only if its class says so; add `class = optional`",
        ),
        Some(Class::Optional) | None => {}
    }
    if class != Some(Class::ControlPlane) && lacks("modes") {
        tell(
            "escape_hatch",
            "an escape hatch is for tests; name their task modes: `modes(\"...\")`",
        );
    }
}

fn class(argument: &Argument, faults: &mut Faults) -> Option<Class> {
    let word = match &argument.value {
        ArgumentValue::Path(path) => path.get_ident(),
        _ => None,
    };
    let known = word.and_then(|word| CLASSES.iter().find(|(name, _)| word == name));
    if known.is_none() {
        faults.push(
            place(argument)?,
            "`class` is one of three words, without quotation marks: `control_plane`, `always` or `optional`",
        );
    }
    known.map(|(_, class)| *class)
}

impl Words {
    fn read(&self, argument: &Argument, faults: &mut Faults) -> Vec<LitStr> {
        let Self { noun, example, .. } = self;
        let name = self.argument;
        let form = format!("`{name}` takes string literals: `{name}(\"{example}\")`");
        let ArgumentValue::List(tokens) = &argument.value else {
            if let Some(at) = place(argument) {
                faults.push(at, form);
            }
            return Vec::new();
        };
        if tokens.is_empty() {
            let at = argument.name.span();
            faults.push(at, format_args!("this names no {noun}; {form}"));
        }
        let words = attr::texts(tokens.clone(), &form, faults);
        let mut seen = BTreeSet::new();
        for word in &words {
            text::check_exact(noun, word, faults);
            if !seen.insert((self.compared)(&word.value())) {
                faults.push(
                    word.span(),
                    format_args!("this {noun} stands here twice; drop one"),
                );
            }
        }
        words
    }
}

fn escape_hatch(argument: &Argument, faults: &mut Faults) -> Option<(LitStr, LitStr)> {
    const NAMES: [&str; 2] = ["method", "path"];
    const FORM: &str = "`escape_hatch` names the arguments with the method and the path of the request: `escape_hatch(method = \"...\", path = \"...\")`";
    let ArgumentValue::List(tokens) = &argument.value else {
        faults.push(place(argument)?, FORM);
        return None;
    };
    let inner = attr::parse(tokens.clone(), faults);
    let misspelt = unknown_and_repeated(&inner, &NAMES, "escape_hatch(...)", faults);
    let lacks = |name: &&str| find(&inner, name).is_none() && !misspelt.contains(name);
    if NAMES.iter().any(lacks) {
        faults.push(argument.name.span(), FORM);
    }
    let [method, path] =
        NAMES.map(|name| find(&inner, name).and_then(|inner| name_in(inner, faults)));
    let (method, path) = method.zip(path)?;
    if method.value() == path.value() {
        faults.push(
            path.span(),
            "the method and the path are two arguments; name the other one",
        );
    }
    Some((method, path))
}

/// The name of one of the payload's fields. The start holds it against the schema.
fn name_in(argument: &Argument, faults: &mut Faults) -> Option<LitStr> {
    let name = text(argument, faults)?;
    text::check_exact("name of the argument", &name, faults);
    Some(name)
}
