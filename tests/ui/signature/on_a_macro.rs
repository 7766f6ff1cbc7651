#![allow(unused_macros)]

use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
macro_rules! handler {
    () => {};
}

fn main() {}
