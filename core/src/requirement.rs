//! What an action asks of whoever calls it, beside being granted: its class, claims, roles and task
//! modes, and the policies of the three kinds of action that need one of their own.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicase::UniCase;

use crate::schema::walk::pointer;

/// How an actor comes by an action.
///
/// An action without a class is reached by the lists of manifests alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The control plane's own: no agent sees it or calls it.
    ControlPlane,
    /// Offered to every actor whose task is active.
    Always,
    /// Offered to an actor who holds every claim that it requires.
    Optional,
}

impl Class {
    /// The name, as it is written in an annotation.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "control_plane",
            Self::Always => "always",
            Self::Optional => "optional",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A role as it is compared: trimmed, and without case.
#[must_use]
pub fn folded_role(role: &str) -> String {
    UniCase::new(role.trim()).to_folded_case()
}

/// What one action requires. The default requires nothing.
///
/// Whoever grants the action, a list or a claim, the gate holds each call to all of this.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirements {
    /// How an actor comes by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Claims, all of which the actor or its scenario must hold. Compared exactly.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub claims: BTreeSet<String>,
    /// Roles, one of which the actor must have; none where any will do. Held as [`folded_role`] gives
    /// them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub roles: BTreeSet<String>,
    /// Task modes in which it is available; none where it is in every one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub modes: BTreeSet<String>,
    /// It reads values of secrets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_secrets: bool,
    /// It sends whatever request it is told to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape_hatch: Option<EscapeHatch>,
    /// The argument that says in which way it turns to a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<String>,
}

/// Where an escape hatch is told what to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EscapeHatch {
    /// The argument that holds the method.
    pub method: String,
    /// The argument that holds the path.
    pub path: String,
}

impl Requirements {
    /// Whether nothing is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with these for an action whose arguments have this schema; each with its remedy.
    #[must_use]
    pub fn faults(&self, parameters: Option<&Value>) -> Vec<String> {
        let mut faults = Vec::new();
        let of_the_class = match (self.class, self.claims.is_empty()) {
            (Some(Class::Optional), true) => Some(
                "is optional and requires no claim, so nothing says who may have it; add `requires(\"...\")`, or make it `class = always`",
            ),
            (Some(Class::Always), false) => Some(
                "is offered always and requires claims; make it `class = optional`, or drop the claims",
            ),
            (None, false) => Some("requires claims and has no class; add `class = optional`"),
            (Some(Class::ControlPlane), _) if *self != Self::of(Class::ControlPlane) => {
                Some("is the control plane's own, which no actor calls; drop what it asks of one")
            }
            _ => None,
        };
        faults.extend(of_the_class.map(str::to_owned));
        if self.escape_hatch.is_some() && self.modes.is_empty() {
            faults.push(
                "is an escape hatch, which is for tests; name their task modes with `modes(\"...\")`".to_owned(),
            );
        }
        let hatch = self.escape_hatch.iter();
        let arguments = hatch
            .flat_map(|hatch| [&hatch.method, &hatch.path])
            .chain(&self.interaction);
        for name in arguments {
            if let Some(problem) = parameters.and_then(|schema| not_a_required_text(schema, name)) {
                faults.push(format!(
                    "is judged by its argument `{name}`, which {problem}"
                ));
            }
        }
        faults
    }

    /// Of this class, and nothing else.
    #[must_use]
    pub fn of(class: Class) -> Self {
        Self {
            class: Some(class),
            ..Self::default()
        }
    }
}

/// Why an argument is no text that every call has.
fn not_a_required_text(schema: &Value, name: &str) -> Option<String> {
    let Some(argument) = schema.get("properties").and_then(|all| all.get(name)) else {
        return Some("it does not take; name one of its own".to_owned());
    };
    let required = schema.get("required").and_then(Value::as_array);
    if !required.is_some_and(|all| all.iter().any(|one| one == name)) {
        return Some("a call may leave out; require it".to_owned());
    }
    let is_text = resolved(schema, argument)
        .get("type")
        .is_some_and(|ty| ty == "string")
        || texts_of(schema, name).is_some();
    (!is_text).then(|| "is no text; make it one".to_owned())
}

/// The texts that an argument takes; `None` where it takes others too.
pub(crate) fn texts_of<'a>(schema: &'a Value, name: &str) -> Option<Vec<&'a str>> {
    let argument = resolved(schema, schema.get("properties")?.get(name)?);
    let listed = |list: &str| argument.get(list).and_then(Value::as_array);
    match (listed("enum"), listed("oneOf"), argument.get("const")) {
        (Some(list), ..) => list.iter().map(Value::as_str).collect(),
        (_, Some(list), _) => list.iter().map(|one| one.get("const")?.as_str()).collect(),
        (_, _, Some(only)) => Some(vec![only.as_str()?]),
        _ => None,
    }
}

/// What a reference of the same schema stands for.
fn resolved<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    let target = part.get("$ref").and_then(Value::as_str).and_then(pointer);
    let found = target.and_then(|target| schema.pointer(&target));
    found.unwrap_or(part)
}
