//! Tests that handler authors get for one line.
//!
//! ```
//! # use actum::{ActionError, action};
//! # #[action(id = "door.open", description = "Open the door.")]
//! # async fn open() -> Result<(), ActionError> { Ok(()) }
//! // Once in a crate of actions:
//! actum::testing::check_actions!();
//! # actum::testing::check_linked(&actum::provider::Provider::ALL)?;
//! # Ok::<(), actum::registry::RegistryFaults>(())
//! ```
//!
//! The test goes over every action that is linked into the test's binary. For each it makes
//! arguments that fit the schema, by chance and at its edges, and changes them in one place at a
//! time. Then
//! - what the schema accepts, the handler's type reads: a call that fits never fails for its form;
//! - what the schema refuses for its kind (a text where a number should be), the type refuses too:
//!   a model is not told less than the handler takes. What an author narrows on purpose, such as
//!   with `#[schemars(range(max = 50))]`, is no fault: the kernel asks the schema first;
//! - the tool keeps the published rules of every provider, in its own shape. A crate whose actions
//!   go to some providers alone names them: `check_actions!(Anthropic, Mcp)`.

mod examples;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::action::Action;
use crate::provider::{Provider, render};
use crate::registry::{Registry, RegistryFault, RegistryFaults};
use crate::schema::walk::escaped;
use crate::schema::{CompiledSchema, without_fractions};
use examples::{Examples, Optional};

/// How many arguments are made for each action.
const EXAMPLES: usize = 160;
/// How many of them are changed, in how many places each.
const CHANGED: usize = 24;
const PLACES: usize = 64;
/// How many faults of one action are told.
const MAX_FAULTS: usize = 4;

/// Makes a test, `actions_conform`, of [`check`] over all linked actions and the providers that are
/// named, or all of them.
pub use crate::__check_actions as check_actions;

#[doc(hidden)]
#[macro_export]
macro_rules! __check_actions {
    () => {
        $crate::__check_actions!(OpenAiChat, OpenAiResponses, Anthropic, Gemini, Mcp);
    };
    ($($provider:ident),+ $(,)?) => {
        #[::core::prelude::v1::test]
        fn actions_conform() {
            if let ::core::result::Result::Err(faults) = $crate::testing::check_linked(&[
                $($crate::provider::Provider::$provider),+
            ]) {
                ::core::panic!("{faults}");
            }
        }
    };
}

/// Checks every action that is linked into this binary.
///
/// # Errors
/// All faults of all actions, those of the registry included; and that there is no action at all,
/// since then nothing was checked.
pub fn check_linked(providers: &[Provider]) -> Result<(), RegistryFaults> {
    let registry = Registry::linked()?;
    if registry.actions().next().is_none() {
        return Err(RegistryFaults::default());
    }
    check(&registry, providers)
}

/// Checks every action of a registry, for the providers that its tools go to.
///
/// # Errors
/// All faults of all actions, in the order of their ids.
pub fn check(registry: &Registry, providers: &[Provider]) -> Result<(), RegistryFaults> {
    let catalog = registry.catalog();
    let faults: Vec<_> = registry
        .actions()
        .flat_map(|(id, action)| {
            let mut problems = match Conformance::of(action) {
                Ok(conformance) => conformance.problems(),
                Err(problem) => vec![problem],
            };
            if let Some(tool) = catalog.tool_descriptor_for(id.as_str()) {
                let shapes = providers
                    .iter()
                    .map(|provider| render(*provider, tool, true));
                problems.extend(
                    shapes
                        .filter_map(Result::err)
                        .map(|problem| problem.to_string()),
                );
            }
            problems.into_iter().map(|problem| RegistryFault {
                id: action.id.to_owned(),
                at: action.at,
                problem,
            })
        })
        .collect();
    RegistryFaults::none_or(faults)
}

/// What is wrong, by what tells it from the same fault of other arguments.
type Problems = BTreeMap<String, String>;

/// One action's schema and type, side by side.
struct Conformance {
    action: &'static Action,
    schema: Value,
    compiled: CompiledSchema,
}

impl Conformance {
    fn of(action: &'static Action) -> Result<Self, String> {
        let schema = (action.parameters)().map_err(|fault| fault.to_string())?;
        let compiled = CompiledSchema::new(&schema).map_err(|fault| fault.to_string())?;
        Ok(Self {
            action,
            schema,
            compiled,
        })
    }

    fn fits(&self, arguments: &Value) -> bool {
        self.compiled.check(arguments).is_ok()
    }

    /// What serde says of it; `None` when it reads it.
    fn refusal(&self, arguments: &Value) -> Option<String> {
        let mut arguments = arguments.clone();
        without_fractions(&mut arguments);
        (self.action.prepare)(arguments)
            .err()
            .map(|error| error.to_string())
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Problems::new();
        let examples = self.examples();
        if examples.is_empty() {
            let problem = "no arguments could be made that fit its schema, so nothing was checked; give the fields with a pattern an example: `#[schemars(extend(\"examples\" = [\"...\"]))]`";
            problems.insert(String::new(), problem.to_owned());
        }
        for example in &examples {
            self.compare(example, &mut problems);
        }
        for example in examples.iter().take(CHANGED) {
            self.change(example, &mut problems);
        }
        problems.into_values().take(MAX_FAULTS).collect()
    }

    /// Different arguments that fit: the least, the most, and some by chance.
    fn examples(&self) -> Vec<Value> {
        let mut source = Examples::of(&self.schema);
        let mut made: Vec<Value> = Vec::new();
        for number in 0..EXAMPLES {
            let optional = match number {
                0..8 => Optional::All,
                8..16 => Optional::None,
                _ => Optional::ByChance,
            };
            let example = source.one(optional).filter(|example| self.fits(example));
            made.extend(example.filter(|example| !made.contains(example)));
        }
        made
    }

    /// What fits the schema is read.
    fn compare(&self, arguments: &Value, problems: &mut Problems) {
        let refusal = self
            .fits(arguments)
            .then(|| self.refusal(arguments))
            .flatten();
        if let Some(refusal) = refusal {
            // One of those that differ in the value alone.
            let kind = refusal.split('"').step_by(2).collect::<Vec<_>>().join("\"");
            problems.entry(kind).or_insert_with(|| format!(
                "its schema accepts {arguments}, and its type refuses it: {refusal}; make them agree, by the type, by `#[serde(default)]`, or by what `#[schemars(...)]` says of the field"
            ));
        }
    }

    fn change(&self, example: &Value, problems: &mut Problems) {
        let mut places = Vec::new();
        places_of(example, String::new(), &mut places);
        for place in places.iter().take(PLACES) {
            let Some(here) = example.pointer(place) else {
                continue;
            };
            // The arguments as a whole are an object by any door.
            if !place.is_empty() {
                self.change_the_kind(example, place, here, problems);
            }
            if let Value::Object(entries) = here {
                for name in entries.keys() {
                    self.compare_changed(example, place, problems, |value| {
                        drop(value.as_object_mut().map(|entries| entries.remove(name)));
                    });
                }
                self.compare_changed(example, place, problems, |value| {
                    let entries = value.as_object_mut();
                    drop(entries.map(|entries| entries.insert("of_no_one".to_owned(), json!(1))));
                });
            }
            if let Some(number) = here.as_i64() {
                for other in [number.saturating_sub(1), number.saturating_add(1)] {
                    self.compare_changed(example, place, problems, |value| *value = json!(other));
                }
            }
        }
    }

    fn compare_changed(
        &self,
        example: &Value,
        place: &str,
        problems: &mut Problems,
        change: impl FnOnce(&mut Value),
    ) {
        let mut changed = example.clone();
        if let Some(value) = changed.pointer_mut(place) {
            change(value);
            self.compare(&changed, problems);
        }
    }

    /// Puts every other kind of value into one place.
    fn change_the_kind(&self, example: &Value, place: &str, here: &Value, problems: &mut Problems) {
        let kinds = [
            json!(null),
            json!(true),
            json!(7),
            json!(0.5),
            json!("text"),
            json!([]),
            json!({}),
        ];
        let is_another = |kind: &Value| match (here, kind) {
            (Value::Number(_), Value::Number(kind)) => kind.is_f64(),
            // serde reads the list of a struct's fields, without their names, for the struct.
            (Value::Object(_), Value::Array(_)) => false,
            (here, kind) => std::mem::discriminant(here) != std::mem::discriminant(kind),
        };
        let (mut refused, mut only_by_schema) = (0, Vec::new());
        for kind in kinds.into_iter().filter(is_another) {
            let mut changed = example.clone();
            if let Some(value) = changed.pointer_mut(place) {
                *value = kind.clone();
            }
            if self.fits(&changed) {
                self.compare(&changed, problems);
                continue;
            }
            refused += 1;
            if self.refusal(&changed).is_none() {
                only_by_schema.push(kind.to_string());
            }
        }
        // Where serde takes everything, a flattened option gives up on what it cannot read.
        if !only_by_schema.is_empty() && only_by_schema.len() < refused {
            let takes = only_by_schema.join(", ");
            // The items of a list are alike.
            let place = place.replace(|c: char| c.is_ascii_digit(), "*");
            let problem = format!(
                "at `{place}` its type also takes {takes}, which its schema refuses; say so in the schema, or refuse it in the type"
            );
            problems.insert(place, problem);
        }
    }
}

/// JSON Pointers to all places of a value, the outer before the inner.
fn places_of(value: &Value, at: String, places: &mut Vec<String>) {
    if places.len() >= PLACES {
        return;
    }
    places.push(at.clone());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places_of(item, format!("{at}/{index}"), places);
            }
        }
        Value::Object(entries) => {
            for (name, entry) in entries {
                places_of(entry, format!("{at}/{}", escaped(name)), places);
            }
        }
        _ => {}
    }
}
