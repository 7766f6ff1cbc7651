//! What only the start can see, it tells at once: each fault with its action, file and line.
#![allow(dead_code)]

use actum::{ActionError, Registry, Selection, action, known};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
enum Colour {
    Red,
    Green,
}

#[derive(Deserialize, JsonSchema)]
struct Wrapped(String);

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Round { radius: u8 },
    Square { side: u8 },
}

const ENUM: u32 = line!() + 1;
#[action(id = "paint.colour", description = "Paint.")]
async fn colour(_: Colour) -> Result<(), ActionError> {
    Ok(())
}

const WRAPPED: u32 = line!() + 1;
#[action(id = "paint.wrapped", description = "Paint.")]
async fn wrapped(_: Wrapped) -> Result<(), ActionError> {
    Ok(())
}

const SELECTED: u32 = line!() + 1;
#[action(id = "paint.selected", description = "Paint.")]
async fn selected(_: &Selection) -> Result<(), ActionError> {
    Ok(())
}

const FIRST: u32 = line!() + 1;
#[action(id = "paint.twice", description = "Paint.")]
async fn once() -> Result<(), ActionError> {
    Ok(())
}

// In one module the compiler tells of it.
mod elsewhere {
    use actum::{ActionError, action};

    pub const SECOND: u32 = line!() + 1;
    #[action(id = "paint.twice", description = "Paint.")]
    async fn twice() -> Result<(), ActionError> {
        Ok(())
    }
}
use elsewhere::SECOND;

const KNOWN: u32 = line!() + 1;
known!("paint.known");

const HANDLED: u32 = line!() + 1;
#[action(id = "paint.known", description = "Paint.")]
async fn handled() -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    let faults = Registry::linked().unwrap_err();
    let at = |line: u32| format!("{}:{line}", file!());
    let expected = [
        (ENUM, "`paint.colour`: its payload is a string, but arguments are an object; put the value into a field of a struct".to_owned()),
        (KNOWN, format!("`paint.known`: declared again at {}; an id has one declaration", at(HANDLED))),
        (SELECTED, "`paint.selected`: its handler takes `&Selection`, but the annotation has no `selection_token = \"...\"`".to_owned()),
        (FIRST, format!("`paint.twice`: declared again at {}; an id has one declaration", at(SECOND))),
        (WRAPPED, "`paint.wrapped`: its payload is a string, but arguments are an object; put the value into a field of a struct".to_owned()),
    ];
    let lines: Vec<String> = expected
        .iter()
        .map(|(line, told)| format!("\n  {}: {told}", at(*line)))
        .collect();
    assert_eq!(
        faults.to_string(),
        format!("5 faults in the linked actions:{}", lines.concat())
    );
}
