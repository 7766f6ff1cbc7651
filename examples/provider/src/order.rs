//! The order of messages that all four APIs ask for: each call is answered by one result, right after the turn
//! that made it, and the model speaks in turn.
//!
//! It is as strict as the strictest of them. OpenAI's Responses would take results in a later place, and two
//! turns of the model in a row.

/// One step of a conversation, whatever messages or items it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Somebody else than the model says something.
    Said,
    /// The model says something, and makes calls of these ids.
    Model(Vec<String>),
    /// Results of the calls of these ids.
    Results(Vec<String>),
}

/// Appends a piece of a step: to the step before if it is of its kind.
pub fn add(steps: &mut Vec<Step>, piece: Step) {
    match (steps.last_mut(), piece) {
        (Some(Step::Model(calls)), Step::Model(more)) => calls.extend(more),
        (Some(Step::Results(calls)), Step::Results(more)) => calls.extend(more),
        (_, piece) => steps.push(piece),
    }
}

/// Asks for the model and the user to speak in turn, where an API wants that.
///
/// # Errors
/// They do not.
pub fn alternate(steps: &[Step]) -> Result<(), String> {
    let is_model = |step: &Step| matches!(step, Step::Model(_));
    match steps.is_sorted_by(|one, next| is_model(one) != is_model(next)) {
        true => Ok(()),
        false => Err("order: roles must alternate between the user and the model".to_owned()),
    }
}

/// How many turns the model has had.
///
/// # Errors
/// The rule that the order breaks.
pub fn turns(steps: &[Step]) -> Result<usize, String> {
    let mut turns = 0;
    let mut open: &[String] = &[];
    if steps.first() != Some(&Step::Said) {
        return Err("order: a conversation begins with what a user says".to_owned());
    }
    for step in steps {
        match step {
            Step::Results(answered) => {
                let mut left = open.to_vec();
                for id in answered {
                    let Some(at) = left.iter().position(|call| call == id) else {
                        return Err(format!(
                            "order: `{id}` is no call of the turn before, or has two results"
                        ));
                    };
                    left.remove(at);
                }
                if !left.is_empty() {
                    return Err(format!("order: no result of {}", left.join(", ")));
                }
                open = &[];
            }
            _ if !open.is_empty() => {
                return Err(format!("order: no result right after {}", open.join(", ")));
            }
            Step::Said => {}
            Step::Model(calls) => {
                turns += 1;
                open = calls;
            }
        }
    }
    match steps.last() {
        Some(Step::Model(_)) => Err("order: the model has spoken last".to_owned()),
        _ => Ok(turns),
    }
}
