//! What the README says of the size of the handlers is so.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use actum::Registry;
use actum_taskboard as _;

#[test]
fn the_lines_per_tool_are_those_of_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut all, mut code) = (0, 0);
    for file in std::fs::read_dir(root.join("src/actions")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        all += text.lines().count();
        code += text.lines().filter(is_code).count();
    }
    let tools = Registry::linked().unwrap().actions().count();
    let tenths = |lines: usize| (lines * 10 + tools / 2) / tools;
    let [all_each, code_each] = [all, code].map(tenths);
    let told = format!(
        "{all} lines for {tools} tools: {}.{} each, or {}.{} without comments and empty lines",
        all_each / 10,
        all_each % 10,
        code_each / 10,
        code_each % 10
    );
    println!("{told}");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(&told), "README.md should say: {told}");
}
