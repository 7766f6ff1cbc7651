//! Values that mostly fit a schema. A test keeps the ones that do.

use serde_json::{Map, Value, json};

/// How many values are drawn for one schema.
const MANY: usize = 24;

/// A small source of chance, so that a case is its seed.
pub struct Sampler {
    state: u64,
    /// Whether optional properties that are drawn are never left out.
    all: bool,
}

impl Sampler {
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed | 1,
            all: false,
        }
    }

    /// Values for a schema. `all`: optional properties are given, so that the value is also one of
    /// a schema in which all are required.
    pub fn many(&mut self, schema: &Value, all: bool) -> Vec<Value> {
        self.all = all;
        (0..MANY).map(|_| self.value(schema, schema, 0)).collect()
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % (limit.max(1) as u64)).unwrap()
    }

    fn one_of<'a>(&mut self, list: &'a [Value]) -> Option<&'a Value> {
        let index = self.below(list.len());
        list.get(index)
    }

    fn value(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        if depth > 12 || !schema.is_object() {
            return json!(null);
        }
        // Now and then something that does not fit.
        if !self.all && self.below(40) == 0 {
            return self.anything();
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let target = root.pointer(&reference[1..]).unwrap();
            return self.value(root, target, depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.one_of(values).cloned().unwrap_or_default();
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            if let Some(forms) = schema[key].as_array() {
                // Deep down, the last form: that of `Option` is null.
                let form = if depth > 6 {
                    forms.last()
                } else {
                    self.one_of(forms)
                };
                let drawn = self.value(root, form.unwrap(), depth + 1);
                return self.joined(root, schema, drawn, depth);
            }
        }
        match &schema["type"] {
            Value::String(kind) => self.of_type(root, schema, kind, depth),
            Value::Array(kinds) => {
                let kind = if depth > 6 {
                    kinds.last()
                } else {
                    self.one_of(kinds)
                };
                let kind = kind.unwrap().as_str().unwrap();
                self.of_type(root, schema, kind, depth)
            }
            _ => self.anything(),
        }
    }

    /// Adds the fields that stand beside alternatives.
    fn joined(&mut self, root: &Value, schema: &Value, drawn: Value, depth: usize) -> Value {
        match drawn {
            Value::Object(mut drawn) if schema["properties"].is_object() => {
                if let Value::Object(fields) = self.object(root, schema, depth) {
                    for (name, value) in fields {
                        drawn.entry(name).or_insert(value);
                    }
                }
                Value::Object(drawn)
            }
            other => other,
        }
    }

    fn of_type(&mut self, root: &Value, schema: &Value, kind: &str, depth: usize) -> Value {
        match kind {
            "string" => match self.below(4) {
                0 => json!("2026-01-02T03:04:05Z"),
                1 => json!(""),
                _ => json!("ab"),
            },
            "integer" => json!(self.below(12)),
            "number" => json!(self.below(24) as f64 / 2.0),
            "boolean" => json!(self.below(2) == 0),
            "array" => self.array(root, schema, depth),
            "object" => self.object(root, schema, depth),
            _ => json!(null),
        }
    }

    fn array(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        if let Some(positions) = schema["prefixItems"].as_array() {
            return positions
                .iter()
                .map(|position| self.value(root, position, depth + 1))
                .collect();
        }
        let length = if depth > 6 { 0 } else { self.below(3) };
        (0..length)
            .map(|_| self.value(root, &schema["items"], depth + 1))
            .collect()
    }

    fn object(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        if let Some(properties) = schema["properties"].as_object() {
            for (name, inner) in properties {
                if self.all || required.contains(&json!(name)) || self.below(2) == 0 {
                    object.insert(name.clone(), self.value(root, inner, depth + 1));
                }
            }
        }
        let more = &schema["additionalProperties"];
        if more.is_object() || (more.is_null() && self.below(3) == 0) {
            let inner = if more.is_object() {
                more.clone()
            } else {
                json!({})
            };
            object.insert("further".to_owned(), self.value(root, &inner, depth + 1));
        }
        Value::Object(object)
    }

    fn anything(&mut self) -> Value {
        match self.below(7) {
            0 => json!(null),
            1 => json!("ab"),
            2 => json!(3),
            3 => json!(0.5),
            4 => json!([1, "a"]),
            5 => json!({"alpha": [true]}),
            _ => json!(true),
        }
    }
}
