//! Addresses and prompts on annotations.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

use actum::lock::{SurfaceLock, compare};
use actum::{ActionError, Registry, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Named {
    #[expect(dead_code)] // looked at by its schema alone
    name: String,
    #[expect(dead_code)]
    most: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Counted {
    #[expect(dead_code)]
    name: String,
    #[expect(dead_code)]
    at: u8,
}

mod sound {
    use super::{ActionError, Named, action};

    #[action(
        id = "note.read",
        description = "Read a note.",
        read_only,
        resource = "note:{name}",
        prompt
    )]
    pub async fn read(_: Named) -> Result<String, ActionError> {
        Ok(String::new())
    }

    #[action(
        id = "note.all",
        description = "Read all notes.",
        read_only,
        resource = "note:all"
    )]
    pub async fn all() -> Result<String, ActionError> {
        Ok(String::new())
    }
}

mod faulty {
    use super::{ActionError, Counted, Named, action};

    #[action(
        id = "note.a",
        description = "A.",
        read_only,
        resource = "note:{other}"
    )]
    pub async fn other_variable(_: Named) -> Result<(), ActionError> {
        Ok(())
    }

    #[action(
        id = "note.b",
        description = "B.",
        read_only,
        resource = "note:{name}/{at}"
    )]
    pub async fn not_a_text(_: Counted) -> Result<(), ActionError> {
        Ok(())
    }

    #[action(id = "note.c", description = "C.", read_only, resource = "note:c")]
    pub async fn argument_left(_: Named) -> Result<(), ActionError> {
        Ok(())
    }

    #[action(id = "note.d", description = "D.", read_only, resource = "actum://d")]
    pub async fn kernels_own() -> Result<(), ActionError> {
        Ok(())
    }

    #[action(id = "note.e", description = "E.", read_only, prompt)]
    pub async fn prompt_of_a_number(_: Counted) -> Result<(), ActionError> {
        Ok(())
    }

    #[action(id = "note.f", description = "F.", read_only, resource = "note:f")]
    pub async fn first() -> Result<(), ActionError> {
        Ok(())
    }

    #[action(id = "note.g", description = "G.", read_only, resource = "note:f")]
    pub async fn second() -> Result<(), ActionError> {
        Ok(())
    }
}

#[test]
fn the_catalog_and_the_lock_know_where_an_action_is_read() {
    let registry = Registry::new(actum::actions![sound::read, sound::all], []).unwrap();
    let catalog = registry.catalog();
    assert_eq!(catalog.faults(), []);
    assert_eq!(
        catalog.resource_of("note.read").unwrap().as_str(),
        "note:{name}"
    );
    assert!(catalog.resource_of("note.all").unwrap().is_one());
    assert!(catalog.is_prompt("note.read") && !catalog.is_prompt("note.all"));
    let lock = SurfaceLock::of(&catalog).unwrap();
    let again = SurfaceLock::read("actum.lock.json", &lock.to_text().unwrap()).unwrap();
    assert_eq!(again, lock);
    let mut before = lock.clone();
    for action in &mut before.actions {
        action.resource = None;
        action.prompt = false;
    }
    let told: Vec<_> = compare(&before, &lock)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "`note.all`: resource: none -> \"note:all\": keeps",
            "`note.read`: resource: none -> \"note:{name}\": keeps",
            "`note.read`: prompt: people can choose it as a prompt now: keeps",
        ]
    );
}

#[test]
fn an_address_says_all_that_a_call_must_have_and_texts_alone() {
    let actions = actum::actions![
        faulty::other_variable,
        faulty::not_a_text,
        faulty::argument_left,
        faulty::kernels_own,
        faulty::prompt_of_a_number,
        faulty::first,
        faulty::second,
    ];
    let faults = Registry::new(actions, []).unwrap_err();
    let told: Vec<_> = faults
        .all()
        .iter()
        .map(|it| format!("{}: {}", it.id, it.problem))
        .collect();
    let wanted = [
        "note.a: its resource `note:{other}` has to have each argument that a call must have as a variable",
        "note.b: its resource `note:{name}/{at}` has to have each argument",
        "note.c: its resource `note:c` has to have each argument",
        "note.d: its resource is no address such as `note:today` or `note:{name}`: `actum:` is the kernel's own",
        "note.e: is a prompt, whose arguments are texts, and `at` is none",
        "note.f: its resource `note:f` is that of `note.g` as well",
    ];
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (told, wanted) in told.iter().zip(wanted) {
        assert!(told.starts_with(wanted), "{told}");
    }
}
