//! A catalog that was stored, read back: what there was to see when a task was issued.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{ActionCatalog, EgressDeclaration, Entry};
use crate::descriptor::ToolDescriptor;
use crate::digest::canonical_json;
use crate::id::ActionId;
use crate::presentation::Rendered;
use crate::requirement::Requirements;
use crate::resource::UriTemplate;
use crate::upstream::UpstreamTool;

/// Why bytes are no catalog as [`ActionCatalog::to_canonical_json`] writes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no catalog as this version reads it: {0}")]
pub struct UnreadableCatalog(String);

/// One action, as it is stored. Whatever came into that form after its first version has a default, so
/// that older catalogs are read; all else has to be there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(deserialize_with = "Option::deserialize")]
    descriptor: Option<ToolDescriptor>,
    dispatchable: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    egress: Option<EgressDeclaration>,
    kernel_origin: bool,
    non_delegable: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    selection_token_type: Option<String>,
    #[serde(default)]
    requirements: Option<Box<Requirements>>,
    #[serde(default)]
    redactions: BTreeMap<String, String>,
    #[serde(default)]
    resource: Option<String>,
    #[serde(default)]
    prompt: bool,
    #[serde(default)]
    upstream: Option<Box<UpstreamTool>>,
}

impl ActionCatalog {
    /// Reads what [`to_canonical_json`](Self::to_canonical_json) wrote, in this version or an earlier one.
    ///
    /// # Errors
    /// [`UnreadableCatalog`] for anything else: an unknown or missing field, a malformed id, or a text that is
    /// not in its one canonical form, which nobody stored.
    pub fn from_canonical_json(bytes: &[u8]) -> Result<Self, UnreadableCatalog> {
        let told = |problem: &dyn std::fmt::Display| UnreadableCatalog(problem.to_string());
        let value: Value = serde_json::from_slice(bytes).map_err(|error| told(&error))?;
        if canonical_json(&value).ok().as_deref() != Some(bytes) {
            return Err(told(&"it is not in canonical form"));
        }
        let stored: BTreeMap<ActionId, Stored> =
            serde_json::from_value(value).map_err(|error| told(&error))?;
        let entries = stored.into_iter().map(|(id, stored)| {
            let tool = stored.descriptor.map(|descriptor| {
                Rendered::new(descriptor)
                    .ok_or_else(|| told(&format!("`{id}` has a descriptor that cannot be shown")))
            });
            let resource = stored.resource.as_deref().map(UriTemplate::parse);
            let entry = Entry {
                tool: tool.transpose()?,
                egress: stored.egress,
                selection_token_type: stored.selection_token_type,
                undispatchable: !stored.dispatchable,
                kernel_origin: stored.kernel_origin,
                non_delegable: stored.non_delegable,
                requirements: stored.requirements,
                redactions: stored.redactions,
                resource: resource
                    .transpose()
                    .map_err(|fault| told(&fault))?
                    .map(Box::new),
                prompt: stored.prompt,
                upstream: stored.upstream,
            };
            Ok((id, entry))
        });
        Ok(Self {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::bound::BoundArgument;
    use crate::descriptor::Hints;
    use crate::requirement::{Class, EscapeHatch};

    /// Catalogs with every field in every state.
    fn catalogs() -> impl Strategy<Value = ActionCatalog> {
        let word = || "[a-z]{1,4}";
        let words = || proptest::collection::btree_set(word(), 0..3);
        let schema = prop_oneof![
            Just(crate::schema::no_arguments()),
            (any::<i32>(), any::<f32>()).prop_map(|(most, step)| json!({
                "type": "object",
                "properties": {"a": {"type": "number", "maximum": most, "multipleOf": step.abs()}},
                "$comment": "\u{e9}\u{1f600}\"\\\n",
            })),
        ];
        let descriptor = (schema, any::<[bool; 5]>(), proptest::option::of(word()));
        let descriptor = descriptor.prop_map(|(parameters_schema, flags, title)| {
            let [
                approval_required,
                selection_token_required,
                idempotency_key_required,
                read_only,
                described,
            ] = flags;
            ToolDescriptor {
                name: "a-b".to_owned(),
                description: "Does.".to_owned(),
                parameters_schema,
                approval_required,
                selection_token_required,
                idempotency_key_required,
                title,
                output_schema: described.then(|| json!({"type": "null"})),
                hints: Hints {
                    read_only,
                    ..Hints::NONE
                },
            }
        });
        let egress = (proptest::option::of(word()), proptest::option::of(words())).prop_map(
            |(egress_class, output_channels)| EgressDeclaration {
                egress_class,
                output_channels,
            },
        );
        let class = prop_oneof![
            Just(None),
            Just(Some(Class::ControlPlane)),
            Just(Some(Class::Always)),
            Just(Some(Class::Optional))
        ];
        let asked = (class, words(), words(), words(), any::<[bool; 3]>()).prop_map(
            |(class, claims, roles, modes, [reads_secrets, hatch, asks])| Requirements {
                class,
                claims,
                roles,
                modes,
                reads_secrets,
                escape_hatch: hatch.then(|| EscapeHatch {
                    method: "m".to_owned(),
                    path: "p".to_owned(),
                }),
                interaction: asks.then(|| "kind".to_owned()),
            },
        );
        let entry = (
            proptest::option::of(descriptor),
            proptest::option::of(egress),
            proptest::option::of(asked),
            proptest::option::of(word()),
            any::<[bool; 4]>(),
            proptest::collection::btree_map("\\$(\\.[a-z]{1,3}){1,2}", word(), 0..2),
        );
        let entry = entry.prop_map(|(descriptor, egress, asked, token, flags, hidden)| {
            let [undispatchable, kernel_origin, non_delegable, of_upstream] = flags;
            Entry {
                tool: descriptor.and_then(Rendered::new),
                egress,
                selection_token_type: token,
                undispatchable,
                kernel_origin,
                non_delegable,
                requirements: asked.filter(|asked| !asked.is_empty()).map(Box::new),
                redactions: hidden,
                resource: non_delegable
                    .then(|| Box::new(UriTemplate::parse("note:{name}").unwrap())),
                prompt: undispatchable,
                upstream: of_upstream.then(|| {
                    let action = ActionId::parse("a").unwrap();
                    let bound = BoundArgument::one_of(action, "a", vec![json!("b")]);
                    let bounds = if kernel_origin {
                        vec![bound]
                    } else {
                        Vec::new()
                    };
                    Box::new(UpstreamTool {
                        tool: "files/a".to_owned(),
                        bounds,
                    })
                }),
            }
        });
        let id = "[a-z]{1,3}(\\.[a-z]{1,3})?".prop_map(|id| ActionId::parse(&id).unwrap());
        proptest::collection::btree_map(id, entry, 0..5).prop_map(|entries| ActionCatalog {
            entries: entries.into_iter().collect(),
        })
    }

    proptest! {
        #[test]
        fn a_catalog_is_read_back_with_its_digest(catalog in catalogs()) {
            let stored = catalog.to_canonical_json().unwrap();
            let read = ActionCatalog::from_canonical_json(&stored).unwrap();
            prop_assert_eq!(read.digest().unwrap(), catalog.digest().unwrap());
            prop_assert_eq!(format!("{:?}", read.ids()), format!("{:?}", catalog.ids()));
            for id in catalog.ids() {
                let id = id.as_str();
                // `1.0` is `1` in canonical form, and one number.
                let [was, is] = [&catalog, &read].map(|it| canonical_json(&it.tool_descriptor_for(id)).unwrap());
                prop_assert_eq!(is, was);
                prop_assert_eq!(read.requirements_for(id), catalog.requirements_for(id));
                prop_assert_eq!(read.resource_of(id), catalog.resource_of(id));
                prop_assert_eq!(read.is_prompt(id), catalog.is_prompt(id));
                prop_assert_eq!(read.upstream_tool_of(id), catalog.upstream_tool_of(id));
                prop_assert_eq!(read.is_dispatchable(id), catalog.is_dispatchable(id));
            }
        }
    }

    fn stored(change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let id = ActionId::parse("a").unwrap();
        let catalog = ActionCatalog::default().and_known([id]);
        let mut value: Value =
            serde_json::from_slice(&catalog.to_canonical_json().unwrap()).unwrap();
        change(&mut value);
        canonical_json(&value).unwrap()
    }

    #[test]
    fn a_catalog_from_before_there_were_requirements_is_read() {
        let old = stored(|all| {
            all["a"].as_object_mut().unwrap().remove("requirements");
        });
        let read = ActionCatalog::from_canonical_json(&old).unwrap();
        assert!(read.is_known("a") && read.requirements_for("a").is_none());
    }

    #[test]
    fn what_nobody_stored_is_refused() {
        let told = |bytes: &[u8]| {
            ActionCatalog::from_canonical_json(bytes)
                .unwrap_err()
                .to_string()
        };
        assert!(ActionCatalog::from_canonical_json(&stored(|_| ())).is_ok());
        let unknown = stored(|all| all["a"]["more"] = json!(1));
        assert!(told(&unknown).contains("`more`"));
        for field in [
            "descriptor",
            "dispatchable",
            "egress",
            "kernel_origin",
            "non_delegable",
            "selection_token_type",
        ] {
            let missing = stored(|all| {
                all["a"].as_object_mut().unwrap().remove(field);
            });
            assert!(told(&missing).contains(field), "{}", told(&missing));
        }
        let malformed = stored(|all| all["A b"] = all["a"].clone());
        assert!(told(&malformed).contains("`A b`"));
        let spaced = [b" ", stored(|_| ()).as_slice()].concat();
        assert!(told(&spaced).contains("canonical"));
        assert!(told(b"{").contains("line 1"));
    }
}
