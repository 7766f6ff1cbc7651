//! What must always hold.

use actum_kernel::calls::State;
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::rules::Rules;
use crate::world::{Answer, Call, Post, World, is_finished};

pub const ONCE: &str = "a call that is not declared idempotent has its effect at most once";
pub const FOUNDED: &str = "no effect without a durable decision before it";
pub const NOTHING_OF_THE_REFUSED: &str =
    "what was rejected, expired, taken back or refused has no effect";
pub const ENDS_ONCE: &str = "a finished call has one record of its end, and another has none";
pub const SETTLED_ONCE: &str = "a person settles only what nobody knows, once";
pub const NOT_STUCK: &str = "when nothing is left to do, every call is finished";
pub const KEY_RUNS_ONCE: &str = "a key is one call with one set of arguments, whoever repeats it";

/// Every promise, and that the world is one in which things happen.
pub fn all() -> Vec<Property<Rules>> {
    vec![
        Property::always(ONCE, |rules: &Rules, world: &World| {
            rules.is_idempotent || world.calls.iter().all(|call| call.effects <= 1)
        }),
        Property::always(SETTLED_ONCE, |_: &Rules, world: &World| {
            let mut calls = world.calls.iter();
            calls.all(|call| call.settled <= call.ends.min(1))
        }),
        Property::always(FOUNDED, |_: &Rules, world: &World| {
            !world.calls.iter().any(|call| call.unfounded_effect)
        }),
        Property::always(NOTHING_OF_THE_REFUSED, |_: &Rules, world: &World| {
            let refused = |call: &&Call| {
                matches!(
                    call.state,
                    State::Rejected | State::Expired | State::Cancelled | State::Refused
                )
            };
            world
                .calls
                .iter()
                .filter(refused)
                .all(|call| call.effects == 0)
        }),
        Property::always(ENDS_ONCE, |_: &Rules, world: &World| {
            let mut calls = world.calls.iter();
            calls.all(|call| call.ends == u8::from(is_finished(call.state)))
        }),
        Property::always(NOT_STUCK, |rules: &Rules, world: &World| {
            let mut moves = Vec::new();
            rules.actions(world, &mut moves);
            let is_idle = !moves.iter().any(|made| made.is_due());
            !is_idle || world.calls.iter().all(|call| is_finished(call.state))
        }),
        Property::always(KEY_RUNS_ONCE, |rules: &Rules, world: &World| {
            let answers = rules.posts.iter().zip(&world.answers);
            let told = |place: &usize, post: &Post| world.calls[*place].words == post.words;
            world.calls.iter().filter(|call| call.keyed).count() <= 1
                && answers.into_iter().all(|(post, answer)| match answer {
                    Some(Answer::New(place) | Answer::Replay(place)) => told(place, post),
                    Some(Answer::Refused) | None => true,
                })
        }),
        // That the world is one in which all of this can happen.
        Property::sometimes(
            "a call succeeds after a restart",
            |_: &Rules, world: &World| {
                world.kills == 0
                    && world
                        .calls
                        .iter()
                        .any(|call| call.state == State::Succeeded)
            },
        ),
        Property::sometimes(
            "an effect was made, and its outcome is not known",
            |_: &Rules, world: &World| {
                let mut calls = world.calls.iter();
                calls.any(|call| call.state == State::OutcomeUnknown && call.effects == 1)
            },
        ),
    ]
}

/// How a promise is broken, in the fewest moves; `None` if it is kept.
pub fn breach(rules: Rules, promise: &'static str) -> Option<String> {
    let found = HasDiscoveries::AnyOf([promise].into());
    let checker = rules.checker().finish_when(found).spawn_bfs().join();
    let moves = checker.discovery(promise)?.into_actions();
    Some(format!("{moves:?}"))
}
