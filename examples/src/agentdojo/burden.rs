//! What the owner has to say beyond the prompt, for sinks to be bound.
//!
//! A sink value is one text or number in a sink argument of a user task's own calls; of a list, each
//! element. The same value in the same argument of the same tool counts once a task. One that stands
//! in the user's prompt can be taken from there. Any other was found by the model on its way, in data
//! that an attacker may have written, so that a person has to select it beforehand or approve it then.
//!
//! A value stands in a prompt when its text does, whatever its case, and is no part of a longer word
//! or number: `5` does not stand in `2024-05-20`. It does in `5 minutes`, although that is no id; the
//! burden is rather too low than too high.

use std::collections::BTreeSet;

use serde_json::Value;

use super::data::{Sinks, UserTask};

/// The sink values of one or more user tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Burden {
    /// How many there are.
    pub values: usize,
    /// How many of them do not stand in their task's prompt.
    pub unsaid: usize,
}

/// The burden of one user task.
#[must_use]
pub fn burden_of(task: &UserTask, sinks: &Sinks) -> Burden {
    let mut values = BTreeSet::new();
    for call in &task.ground_truth {
        for sink in sinks.of(&call.tool) {
            let given = call.args.get(sink).into_iter().flat_map(texts);
            values.extend(given.map(|text| (&call.tool, sink, text)));
        }
    }
    let prompt = task.prompt.to_lowercase();
    let unsaid = values.iter().filter(|(_, _, text)| !says(&prompt, text));
    Burden {
        values: values.len(),
        unsaid: unsaid.count(),
    }
}

/// The texts of an argument, in lower case. Null and the empty text reach nobody.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text.to_lowercase()],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        other => vec![other.to_string().to_lowercase()],
    }
}

fn says(prompt: &str, text: &str) -> bool {
    prompt.match_indices(text).any(|(at, found)| {
        let before = prompt.get(..at).and_then(|left| left.chars().next_back());
        let after = prompt.get(at + found.len()..);
        let after = after.and_then(|right| right.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn burden(prompt: &str, calls: Value) -> Burden {
        let task = json!({"id": "t", "prompt": prompt, "ground_truth": calls});
        let sinks = json!({
            "note": "", "effects": [],
            "sinks": {"send": ["to", "copy"], "delete": ["id"]},
        });
        burden_of(
            &serde_json::from_value(task).unwrap(),
            &serde_json::from_value(sinks).unwrap(),
        )
    }

    fn of(values: usize, unsaid: usize) -> Burden {
        Burden { values, unsaid }
    }

    #[test]
    fn a_value_counts_unless_the_prompt_has_it_as_a_word_of_its_own() {
        let delete = |id: Value| json!([{"tool": "delete", "args": {"id": id}}]);
        assert_eq!(burden("Delete file 5.", delete(json!("5"))), of(1, 0));
        assert_eq!(burden("Delete file 5.", delete(json!(5))), of(1, 0));
        assert_eq!(
            burden("Delete that of 05-15.", delete(json!("5"))),
            of(1, 1)
        );
        assert_eq!(burden("Delete the 5th.", delete(json!("5"))), of(1, 1));
        assert_eq!(burden("15 times, then 5", delete(json!("5"))), of(1, 0));
        assert_eq!(burden("Delete it.", delete(json!("5"))), of(1, 1));
        assert_eq!(burden("REPORT.TXT", delete(json!("Report.txt"))), of(1, 0));
        assert_eq!(burden("", delete(json!("5"))), of(1, 1));
    }

    #[test]
    fn each_element_of_a_list_counts_and_the_same_value_in_the_same_place_once() {
        let to = |to: Value| json!({"tool": "send", "args": {"to": to, "text": "hello"}});
        let calls = json!([to(json!(["ada", "bob"])), to(json!(["bob"]))]);
        assert_eq!(burden("Write to Ada.", calls), of(2, 1));
        let calls = json!([{"tool": "send", "args": {"to": "bob", "copy": "bob"}}]);
        assert_eq!(burden("Write.", calls), of(2, 2));
        let calls = json!([to(json!(null)), to(json!([])), to(json!(""))]);
        assert_eq!(burden("Write.", calls), of(0, 0));
    }
}
