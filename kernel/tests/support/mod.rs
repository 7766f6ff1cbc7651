//! What the whole-system tests share: a home for a kernel, a kernel in it, and a client.

#![allow(dead_code)] // each test file uses its own part of it

pub mod answer;
pub mod client;
pub mod database;
pub mod home;
pub mod kernel;
pub mod server;
pub mod telegram;
