//! A kernel with one action of its own, besides the shipped ones.
//!
//! `cargo run -p actum-examples --bin hello -- catalog` lists it; `serve` serves it to every worker
//! whose grant has it.

use std::process::ExitCode;

use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whom to greet.
#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// The name.
    #[schemars(length(min = 1, max = 100))]
    name: String,
}

/// What was said.
#[derive(Serialize, JsonSchema)]
struct Greeting {
    text: String,
}

/// Made by the host, and given to the handler by reference.
struct Tone(&'static str);

#[action(
    id = "greeting.say",
    description = "Greet somebody by name.",
    read_only
)]
async fn greet(tone: &Tone, ask: Greet) -> Result<Greeting, ActionError> {
    Ok(Greeting {
        text: format!("{}, {}!", tone.0, ask.name),
    })
}

fn main() -> ExitCode {
    actum_kernel::cli::main_with(|kernel| kernel.resource(Tone("Hello")))
}

#[cfg(test)]
mod tests {
    use super::*;

    actum::testing::check_actions!();

    #[tokio::test]
    async fn the_handler_is_an_ordinary_function() {
        let greeting = greet(&Tone("Hi"), Greet { name: "Ada".into() })
            .await
            .unwrap();
        assert_eq!(greeting.text, "Hi, Ada!");
    }
}
