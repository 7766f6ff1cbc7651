//! actum
fn main() {}
