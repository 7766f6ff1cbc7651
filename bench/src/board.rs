//! Twenty tools, and a sample whose owner may use them all.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::fmt::Write as _;
use std::path::Path;

use actum::{ActionError, Registry, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Puts every tool below into the owner's view, for as many calls as a benchmark makes.
pub fn grant_every_tool(sample: &Path) {
    let registry = Registry::linked().unwrap();
    let catalog = registry.catalog();
    let tools = catalog
        .ids()
        .into_iter()
        .filter(|id| id.as_str().starts_with("board."));
    let mut list = String::new();
    for id in tools {
        write!(list, "\n  - {id}").unwrap();
    }
    for (file, key) in [
        (
            "manifests/packs/owner_pack.yaml",
            "candidate_allowed_actions:",
        ),
        ("manifests/agents/house_assistant.yaml", "designed_tools:"),
    ] {
        let path = sample.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(key));
        let text = text.replace(key, &format!("{key}{list}"));
        let text = text.replace("calls_per_task: ", "calls_per_task: 10000");
        std::fs::write(&path, text).unwrap();
    }
}

/// What the model fills in.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "nothing calls these tools")]
struct ListCards {
    /// Words that a card must contain; empty for every card.
    #[schemars(length(max = 200))]
    query: String,
    /// How many of the newest cards to return, 1 to 50.
    #[schemars(range(min = 1, max = 50))]
    newest: u8,
    /// Whether archived cards are included.
    with_archived: bool,
}

#[derive(Serialize, JsonSchema)]
struct Cards {
    /// The cards' titles, newest first.
    titles: Vec<String>,
}

macro_rules! tools {
    ($($name:ident $id:literal),+ $(,)?) => { $(
        #[action(
            id = $id,
            title = "List cards",
            description = "List the newest cards of the column, newest first, without their attachments.",
            read_only
        )]
        async fn $name(_ask: ListCards) -> Result<Cards, ActionError> {
            Ok(Cards { titles: Vec::new() })
        }
    )+ };
}

tools! {
    column_01 "board.list_column_01",
    column_02 "board.list_column_02",
    column_03 "board.list_column_03",
    column_04 "board.list_column_04",
    column_05 "board.list_column_05",
    column_06 "board.list_column_06",
    column_07 "board.list_column_07",
    column_08 "board.list_column_08",
    column_09 "board.list_column_09",
    column_10 "board.list_column_10",
    column_11 "board.list_column_11",
    column_12 "board.list_column_12",
    column_13 "board.list_column_13",
    column_14 "board.list_column_14",
    column_15 "board.list_column_15",
    column_16 "board.list_column_16",
    column_17 "board.list_column_17",
    column_18 "board.list_column_18",
    column_19 "board.list_column_19",
    column_20 "board.list_column_20",
}
