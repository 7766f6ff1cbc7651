//! Values that fit a schema in normal form, by chance and at its edges. The same schema gives the
//! same values.

use serde_json::{Map, Number, Value, json};

/// How deep a value may be made before only what must be there is.
const DEEP: usize = 5;
/// How deep a value may be made at all.
const TOO_DEEP: usize = 24;
/// Texts to try where a schema asks for a form.
const TEXTS: [&str; 12] = [
    "",
    "a",
    "text",
    "A longer text, with ünïcödé and \"quotes\".",
    "0",
    "7",
    "a-b_c",
    "name@example.org",
    "2024-02-29T12:30:00Z",
    "2024-02-29",
    "12:30:00Z",
    "127.0.0.1",
];

pub(super) struct Examples<'a> {
    root: &'a Value,
    random: u64,
    optional: Optional,
}

/// What becomes of properties that need not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    All,
    None,
    ByChance,
}

impl<'a> Examples<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        Self {
            root,
            random: 0x9E37_79B9_7F4A_7C15,
            optional: Optional::ByChance,
        }
    }

    /// A value; `None` where the schema asks for what is not known to be made.
    pub(super) fn one(&mut self, optional: Optional) -> Option<Value> {
        self.optional = optional;
        self.value(self.root, 0)
    }

    /// A number below `bound`, by xorshift.
    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.random % bound).unwrap_or_default()
    }

    fn pick<'v, T>(&mut self, from: &'v [T]) -> Option<&'v T> {
        let index = self.below(from.len());
        from.get(index)
    }

    fn value(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        let schema = schema.as_object()?;
        if depth > TOO_DEEP {
            return None;
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let target = self.root.pointer(reference.strip_prefix('#')?)?;
            return self.value(target, depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return self.pick(values).cloned();
        }
        for union in ["oneOf", "anyOf"] {
            if let Some(Value::Array(alternatives)) = schema.get(union) {
                return self.alternative(alternatives, depth);
            }
        }
        let written = schema.get("examples").and_then(Value::as_array);
        if let (Some(written), 0) = (written, self.below(2)) {
            return self.pick(written).cloned();
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) if depth > DEEP && kinds.contains(&json!("null")) => "null",
            Some(Value::Array(kinds)) => self.pick(kinds)?.as_str()?,
            Some(kind) => kind.as_str()?,
            None if schema.contains_key("allOf") => return None,
            None => {
                return self
                    .pick(&[json!(null), json!(7), json!({"any": []})])
                    .cloned();
            }
        };
        match kind {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => self.string(schema),
            "integer" | "number" => self.number(schema, kind == "number"),
            "boolean" => Some(json!(self.below(2) == 1)),
            "null" => Some(Value::Null),
            _ => None,
        }
    }

    fn alternative(&mut self, alternatives: &'a [Value], depth: usize) -> Option<Value> {
        let shortest = alternatives
            .iter()
            .min_by_key(|schema| schema.to_string().len())?;
        if depth > DEEP {
            return self.value(shortest, depth + 1);
        }
        let schema = self.pick(alternatives)?;
        self.value(schema, depth + 1)
    }

    fn object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<Value> {
        let mut made = Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let named = schema.get("properties").and_then(Value::as_object);
        for (name, inner) in named.into_iter().flatten() {
            let wanted = is_required(name)
                || match self.optional {
                    Optional::All => depth <= DEEP,
                    Optional::None => false,
                    Optional::ByChance => depth <= DEEP && self.below(2) == 0,
                };
            if wanted {
                made.insert(name.clone(), self.value(inner, depth + 1)?);
            }
        }
        let least = limit(schema, "minProperties").unwrap_or(0);
        let most = limit(schema, "maxProperties").unwrap_or(usize::MAX);
        let further = if depth > DEEP { 0 } else { self.below(3) };
        let further = further.max(least.saturating_sub(made.len()));
        let further = further.min(most.saturating_sub(made.len())).min(16);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let of_pattern = patterns
            .into_iter()
            .flatten()
            .map(|(_, inner)| ("", inner))
            .next();
        let of_any = schema
            .get("additionalProperties")
            .filter(|inner| inner.is_object());
        // A key of a pattern is a number wherever serde knows of one.
        if let Some((prefix, inner)) = of_pattern.or(of_any.map(|inner| ("key", inner))) {
            let keys = schema.get("propertyNames");
            for number in 0..further {
                let key = match keys {
                    Some(keys) => self.value(keys, depth + 1)?.as_str()?.to_owned(),
                    None => format!("{prefix}{number}"),
                };
                made.insert(key, self.value(inner, depth + 1)?);
            }
        }
        Some(Value::Object(made))
    }

    fn array(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<Value> {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let mut made = Vec::new();
        for inner in first.into_iter().flatten() {
            made.push(self.value(inner, depth + 1)?);
        }
        let least = limit(schema, "minItems").unwrap_or(0);
        let most = limit(schema, "maxItems").unwrap_or(least.saturating_add(3));
        let wanted = if depth > DEEP { 0 } else { self.below(4) };
        let wanted = wanted.clamp(least.min(most), most).min(64);
        let is_set = schema.get("uniqueItems") == Some(&json!(true));
        while made.len() < wanted {
            let inner = schema.get("items")?;
            let mut item = self.value(inner, depth + 1)?;
            for _ in 0..16 {
                if is_set && made.contains(&item) {
                    item = self.value(inner, depth + 1)?;
                }
            }
            made.push(item);
        }
        Some(Value::Array(made))
    }

    fn string(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        let format = schema.get("format").and_then(Value::as_str);
        let text = match format {
            Some("date-time") => "2024-02-29T12:30:00Z",
            Some("date") => "2024-02-29",
            Some("time") => "12:30:00Z",
            Some("duration") => "P1D",
            Some("email" | "idn-email") => "name@example.org",
            Some("hostname" | "idn-hostname") => "example.org",
            Some("ipv4" | "ip") => "127.0.0.1",
            Some("ipv6") => "::1",
            Some("uuid") => "67e55044-10b1-426f-9247-bb680e5fe0c8",
            Some("uri" | "uri-reference" | "iri" | "iri-reference") => "https://example.org/a",
            Some("json-pointer") => "/a",
            Some("regex") => "a+",
            _ => self.pick(&TEXTS)?,
        };
        let mut text = text.to_owned();
        if format.is_none() {
            let least = limit(schema, "minLength").unwrap_or(0).min(4096);
            let most = limit(schema, "maxLength").unwrap_or(usize::MAX);
            while text.chars().count() < least {
                text.push('a');
            }
            text = text.chars().take(most).collect();
        }
        Some(Value::String(text))
    }

    fn number(&mut self, schema: &Map<String, Value>, with_fractions: bool) -> Option<Value> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let step = bound("multipleOf").unwrap_or(1.0);
        let least =
            bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + step));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - step));
        let within = |number: f64| {
            least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
        };
        let mut candidates = vec![0.0, 1.0, -1.0, step, 1_000.0, 9_007_199_254_740_991.0];
        candidates.extend(least.into_iter().flat_map(|least| [least, least + step]));
        candidates.extend(most.into_iter().flat_map(|most| [most, most - step]));
        if with_fractions {
            candidates.extend([0.5, -2.25, 1e300]);
        }
        candidates.retain(|number| within(*number));
        let number = *self.pick(&candidates)?;
        let mut value = Value::Number(Number::from_f64(number)?);
        crate::schema::without_fractions(&mut value);
        Some(value)
    }
}

fn limit(schema: &Map<String, Value>, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_u64()?).ok()
}
