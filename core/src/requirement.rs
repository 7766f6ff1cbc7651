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
pub(crate) fn not_a_required_text(schema: &Value, name: &str) -> Option<String> {
    let Some(argument) = schema.get("properties").and_then(|all| all.get(name)) else {
        return Some("it does not take; name one of its own".to_owned());
    };
    let required = schema.get("required").and_then(Value::as_array);
    if !required.is_some_and(|all| all.iter().any(|one| one == name)) {
        return Some("a call may leave out; require it".to_owned());
    }
    let is_text = is_text(schema, argument) || texts_of(schema, name).is_some();
    (!is_text).then(|| "is no text; make it one".to_owned())
}

fn is_text(schema: &Value, argument: &Value) -> bool {
    let kind = resolved(schema, argument).get("type");
    kind.is_some_and(|kind| kind == "string")
}

/// The texts that an argument of a schema takes; `None` where it takes others too.
#[must_use]
pub fn texts_of<'a>(schema: &'a Value, name: &str) -> Option<Vec<&'a str>> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Optional, and sound for [`schema`].
    fn sound() -> Requirements {
        Requirements {
            claims: ["cases:send".to_owned()].into(),
            roles: ["approver".to_owned()].into(),
            modes: ["test".to_owned()].into(),
            reads_secrets: true,
            escape_hatch: hatch("verb", "target"),
            interaction: Some("kind".to_owned()),
            ..Requirements::of(Class::Optional)
        }
    }

    #[allow(clippy::unnecessary_wraps, reason = "it is what stands in the field")]
    fn hatch(method: &str, path: &str) -> Option<EscapeHatch> {
        let [method, path] = [method, path].map(str::to_owned);
        Some(EscapeHatch { method, path })
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "verb": {"enum": ["GET", "PUT"]},
                "target": {"type": "string"},
                "kind": {"$ref": "#/$defs/Kind", "description": "How."},
                "only": {"const": "confirm"},
                "note": {"type": "string"},
                "size": {"type": "integer"},
                "perhaps": {"type": ["string", "null"]},
                "mixed": {"enum": ["all", 1]},
            },
            "required": ["verb", "target", "kind", "only", "size", "perhaps", "mixed"],
            "$defs": {"Kind": {"oneOf": [{"const": "confirm"}, {"const": "choose"}]}},
        })
    }

    #[test]
    fn roles_are_one_where_people_would_say_so() {
        for role in ["approver", " Approver\n", "APPROVER", "\tapProver "] {
            assert_eq!(folded_role(role), "approver", "{role:?}");
        }
        assert_eq!(folded_role("Straße"), folded_role("STRASSE"));
        assert_ne!(folded_role("case approver"), folded_role("caseapprover"));
    }

    #[test]
    fn each_rule_of_a_class_is_told_with_its_remedy() {
        let without_claims = Requirements {
            claims: BTreeSet::new(),
            ..sound()
        };
        let of = |class, required: &Requirements| Requirements {
            class,
            ..required.clone()
        };
        let cases = [
            (sound(), None),
            (
                without_claims.clone(),
                Some("is optional and requires no claim"),
            ),
            (of(Some(Class::Always), &without_claims), None),
            (
                of(Some(Class::Always), &sound()),
                Some("is offered always and requires claims"),
            ),
            (of(None, &without_claims), None),
            (of(None, &sound()), Some("requires claims and has no class")),
            (
                of(Some(Class::ControlPlane), &without_claims),
                Some("is the control plane's own"),
            ),
            (Requirements::of(Class::ControlPlane), None),
            (Requirements::default(), None),
        ];
        for (required, wanted) in cases {
            let faults = required.faults(Some(&schema()));
            match (wanted, faults.as_slice()) {
                (None, []) => {}
                (Some(wanted), [fault]) if fault.starts_with(wanted) => {
                    let remedies = ["add `", "make it `", "drop "];
                    assert!(remedies.iter().any(|it| fault.contains(it)), "{fault}");
                }
                _ => panic!("{wanted:?} is not what is told of {required:?}: {faults:?}"),
            }
        }
    }

    #[test]
    fn an_escape_hatch_is_for_certain_modes() {
        let everywhere = Requirements {
            modes: BTreeSet::new(),
            ..sound()
        };
        let faults = everywhere.faults(None);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("`modes(\"...\")`"), "{faults:?}");
    }

    #[test]
    fn what_a_policy_judges_is_a_text_that_every_call_has() {
        let judged = |name: &str| {
            let judged = Requirements {
                interaction: Some(name.to_owned()),
                ..sound()
            };
            judged.faults(Some(&schema()))
        };
        for sound in ["verb", "target", "kind", "only"] {
            assert_eq!(judged(sound), [""; 0], "{sound}");
        }
        for (name, problem) in [
            ("size", "is no text"),
            ("perhaps", "is no text"),
            ("mixed", "is no text"),
            ("note", "a call may leave out"),
            ("verbs", "it does not take"),
            ("", "it does not take"),
        ] {
            let faults = judged(name);
            assert_eq!(faults.len(), 1, "{name}: {faults:?}");
            let words = format!("is judged by its argument `{name}`, which {problem}");
            assert!(faults[0].starts_with(&words), "{faults:?}");
        }
        let both = Requirements {
            escape_hatch: hatch("size", "note"),
            ..sound()
        };
        assert_eq!(both.faults(Some(&schema())).len(), 2);
        assert_eq!(both.faults(Some(&json!({}))).len(), 3, "nothing is there");
        assert_eq!(
            both.faults(None),
            [""; 0],
            "nothing is told of what is not described"
        );
    }

    #[test]
    fn what_is_required_reads_back_and_nothing_else_does() {
        let written = serde_json::to_value(sound()).unwrap();
        let read: Requirements = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(read, sound());
        assert_eq!(
            serde_json::to_value(Requirements::of(Class::ControlPlane)).unwrap(),
            json!({"class": "control_plane"})
        );
        for class in [Class::ControlPlane, Class::Always, Class::Optional] {
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
        let mut more = written;
        more["claim"] = json!("cases:send");
        assert!(serde_json::from_value::<Requirements>(more).is_err());
    }
}
