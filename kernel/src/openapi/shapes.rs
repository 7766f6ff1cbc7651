//! The schemas: of the types that are read and written, and by hand of answers that are written without one.

use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::connectors::mailbox::ThreadSummary;
use crate::worker::MODEL_ONLY;

/// Where the document has its definitions.
const DEFINITIONS: &str = "/components/schemas";

/// The schemas of one document.
pub(super) struct Shapes {
    read: SchemaGenerator,
    written: SchemaGenerator,
    by_hand: Map<String, Value>,
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = contract;
        settings.definitions_path = DEFINITIONS.into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn object(required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let all = required.iter().chain(optional);
    let properties: Map<_, _> = all
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let required: Vec<_> = required.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text() -> Value {
    json!({"type": "string"})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

impl Shapes {
    pub(super) fn new() -> Self {
        let mut shapes = Self {
            read: generator(Contract::Deserialize),
            written: generator(Contract::Serialize),
            by_hand: Map::new(),
        };
        let refusal = shapes.refusal();
        shapes.by_hand.insert("Refusal".to_owned(), refusal);
        let tool = shapes.tool();
        shapes.by_hand.insert("Tool".to_owned(), tool);
        shapes
    }

    /// The schema of what is read into a type.
    pub(super) fn read<T: JsonSchema>(&mut self) -> Value {
        self.read.subschema_for::<T>().to_value()
    }

    /// The schema of what is written from a type.
    pub(super) fn written<T: JsonSchema>(&mut self) -> Value {
        self.written.subschema_for::<T>().to_value()
    }

    /// Everything that was referred to, by name.
    pub(super) fn into_definitions(mut self) -> Map<String, Value> {
        let mut all = self.read.take_definitions(true);
        all.extend(self.written.take_definitions(true));
        all.extend(self.by_hand);
        all
    }

    /// An answer that is no refusal.
    pub(super) fn ok(&self, required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
        let ok = ("ok", json!({"type": "boolean", "const": true}));
        let required = [&[ok], required].concat();
        object(&required, optional)
    }

    /// The id of a record: a ULID.
    pub(super) fn id(&self) -> Value {
        json!({"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"})
    }

    pub(super) fn digest(&self) -> Value {
        json!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
    }

    fn time(&self) -> Value {
        json!({"type": "string", "format": "date-time"})
    }

    fn state(&mut self) -> Value {
        self.written::<crate::calls::State>()
    }

    fn refusal(&self) -> Value {
        let codes = [
            "policy_denied",
            "operation_absent",
            "input_invalid",
            "operation_unsupported",
            "unauthenticated",
        ];
        let fault = object(&[("at", text()), ("problem", text())], &[]);
        let faults = list(json!({"anyOf": [fault, text()]}));
        let error = object(
            &[
                ("code", json!({"type": "string", "enum": codes})),
                ("operation_id", json!({"type": ["string", "null"]})),
                ("reason", text()),
                ("message", text()),
            ],
            &[("request_id", self.id()), ("faults", faults)],
        );
        let claims = || list(text());
        let authorization = object(
            &[
                ("phase", text()),
                ("operation_id", text()),
                ("outcome", text()),
                ("reason", text()),
                ("considered", claims()),
                ("granted", claims()),
                ("missing", claims()),
                ("redactions", claims()),
                ("state_change", text()),
            ],
            &[],
        );
        let ok = json!({"type": "boolean", "const": false});
        object(
            &[("ok", ok), ("error", error)],
            &[("authorization", authorization)],
        )
    }

    fn tool(&self) -> Value {
        let flag = || json!({"type": "boolean"});
        let schema = || json!({"type": "object"});
        let hint = |name: &'static str| (name, flag());
        let hints = object(
            &[],
            &["read_only", "destructive", "idempotent", "open_world"].map(hint),
        );
        object(
            &[
                (
                    "name",
                    json!({"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}),
                ),
                ("description", text()),
                ("parameters", schema()),
                ("approval_required", flag()),
                ("selection_token_required", flag()),
            ],
            &[
                ("idempotency_key_required", flag()),
                ("title", text()),
                ("output_schema", schema()),
                ("hints", hints),
            ],
        )
    }

    fn selections(&self) -> Value {
        list(object(&[("token", self.id()), ("type", text())], &[]))
    }

    pub(super) fn begun(&self) -> Value {
        self.ok(
            &[
                ("event_id", self.id()),
                ("route", text()),
                ("task_id", self.id()),
                ("task_token", text()),
                ("expires_at", self.time()),
                ("selection_tokens", self.selections()),
            ],
            &[],
        )
    }

    pub(super) fn task(&self) -> Value {
        let count = || json!({"type": "integer", "minimum": 0});
        // In the shape of a provider they are what that provider takes.
        let tools =
            list(json!({"anyOf": [{"$ref": "#/components/schemas/Tool"}, {"type": "object"}]}));
        let left_out = list(object(&[("name", text()), ("problem", text())], &[]));
        let catalog = object(
            &[("digest", self.digest()), ("tools", tools)],
            &[("left_out", left_out)],
        );
        let limits = object(
            &[
                ("max_model_calls", count()),
                ("max_artifacts", count()),
                ("max_runtime_seconds", count()),
            ],
            &[],
        );
        let report = object(
            &[
                ("untrusted", json!({"const": true})),
                ("content", json!({})),
            ],
            &[],
        );
        let commissioned = object(
            &[
                ("task_id", self.id()),
                ("purpose", text()),
                ("state", text()),
            ],
            &[("report", report)],
        );
        object(
            &[
                ("catalog", catalog),
                ("expires_at", self.time()),
                ("limits", limits),
                ("message", json!({"type": ["string", "null"]})),
                ("purpose", text()),
                ("selection_tokens", self.selections()),
                ("task_id", self.id()),
            ],
            &[("commissioned", list(commissioned))],
        )
    }

    pub(super) fn called(&self) -> Value {
        let allowed = self.ok(
            &[
                ("request_id", self.id()),
                ("decision", json!({"type": "string", "const": "allowed"})),
                ("result", json!({})),
            ],
            &[
                ("replayed", json!({"type": "boolean", "const": true})),
                (
                    "result_schema",
                    json!({"type": "string", "const": MODEL_ONLY}),
                ),
            ],
        );
        let suppressed = json!({"type": "string", "const": "effect_suppressed"});
        let suppressed = self.ok(&[("decision", suppressed)], &[]);
        json!({"anyOf": [allowed, suppressed]})
    }

    pub(super) fn waits(&self) -> Value {
        self.ok(
            &[
                ("request_id", self.id()),
                (
                    "decision",
                    json!({"type": "string", "const": "approval_required"}),
                ),
                ("status_url", text()),
            ],
            &[],
        )
    }

    pub(super) fn call_state(&mut self) -> Value {
        let state = self.state();
        self.ok(
            &[
                ("request_id", self.id()),
                ("action", text()),
                ("state", state),
            ],
            &[
                ("reason", text()),
                ("superseded_by", self.id()),
                ("result", json!({})),
            ],
        )
    }

    pub(super) fn threads(&mut self) -> Value {
        let threads = self.written::<Vec<ThreadSummary>>();
        self.ok(&[("threads", threads)], &[])
    }

    pub(super) fn revoked(&self) -> Value {
        self.ok(
            &[
                ("task_id", self.id()),
                ("revoked", json!({"type": "boolean", "const": true})),
                ("tasks", json!({"type": "integer", "minimum": 1})),
            ],
            &[],
        )
    }

    pub(super) fn reloaded(&self) -> Value {
        self.ok(
            &[
                ("from", self.digest()),
                ("revision", self.digest()),
                ("changed", json!({"type": "boolean"})),
            ],
            &[],
        )
    }

    pub(super) fn decided(&mut self) -> Value {
        let state = self.state();
        self.ok(
            &[("call", self.id()), ("state", state)],
            &[("result", json!({})), ("reason", text())],
        )
    }

    pub(super) fn settled(&mut self) -> Value {
        let state = self.state();
        self.ok(
            &[("call", self.id()), ("state", state), ("reason", text())],
            &[],
        )
    }

    pub(super) fn instead(&mut self) -> Value {
        let state = self.state();
        self.ok(
            &[
                ("call", self.id()),
                ("instead_of", self.id()),
                ("state", state),
            ],
            &[],
        )
    }

    pub(super) fn signed(&self) -> Value {
        self.ok(&[("checkpoint", json!({"type": ["string", "null"]}))], &[])
    }
}

/// How values are written that have a form of their own in texts.
pub(crate) mod forms {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    macro_rules! form {
        ($(#[$meta:meta])* $name:ident: $($schema:tt)*) => {
            $(#[$meta])*
            pub(crate) struct $name;

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($($schema)*)
                }
            }
        };
    }

    form!(
        /// A ULID.
        Id: {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"}
    );
    form!(
        /// A digest.
        Sha256: {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
    );
    form!(
        /// A time.
        Time: {"type": "string", "format": "date-time"}
    );
}
