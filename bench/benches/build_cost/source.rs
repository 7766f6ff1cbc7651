//! The two crates, as text: the same payloads, results and bodies, under either annotation.
//!
//! Each side is written as its own documentation writes it. Actum's handlers are free functions, with
//! the desk as a resource. rmcp's are methods of the desk, one router for each module; the routers
//! are added up.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::handlers::{Area, Field, Handler, Kind};

/// Which annotation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `#[action]`
    Actum,
    /// `#[tool]` and `#[tool_router]`
    Rmcp,
}

impl Side {
    /// The name of the generated package, and of its program.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Actum => "build-cost-actum",
            Self::Rmcp => "build-cost-rmcp",
        }
    }

    /// Where the sources are, below the folder of all generated ones. The manifests in
    /// `bench/build-cost` say the same.
    fn folder(self) -> &'static str {
        match self {
            Self::Actum => "actum",
            Self::Rmcp => "rmcp",
        }
    }
}

/// Writes a whole crate.
///
/// # Errors
/// The file system's.
pub fn write(root: &Path, side: Side, areas: &[Area]) -> io::Result<()> {
    let folder = root.join(side.folder());
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("main.rs"), main(side, areas))?;
    for area in areas {
        fs::write(file_of(root, side, area), module(side, area, 0))?;
    }
    Ok(())
}

/// Writes one module once more, with another number in one line of one handler's body.
///
/// # Errors
/// The file system's.
pub fn change_a_line(root: &Path, side: Side, area: &Area, revision: u32) -> io::Result<()> {
    fs::write(file_of(root, side, area), module(side, area, revision))
}

fn file_of(root: &Path, side: Side, area: &Area) -> PathBuf {
    root.join(side.folder())
        .join(area.name)
        .with_extension("rs")
}

/// The root: the modules, the desk, and a `main` that counts what was registered.
fn main(side: Side, areas: &[Area]) -> String {
    let each = |line: &dyn Fn(&str) -> String| -> Vec<String> {
        areas.iter().map(|area| line(area.name)).collect()
    };
    let modules = each(&|area| format!("mod {area};\n")).concat();
    match side {
        Side::Actum => modules + DESK + COUNT_ACTIONS,
        Side::Rmcp => {
            let routers = each(&|area| format!("Self::{area}_router()")).join(" + ");
            let all = format!(
                "
impl Desk {{
    fn tool_router() -> rmcp::handler::server::router::tool::ToolRouter<Self> {{
        {routers}
    }}
}}
"
            );
            modules + DESK + &all + COUNT_TOOLS
        }
    }
}

const DESK: &str = "
use std::sync::atomic::{AtomicU64, Ordering};

/// What the handlers work on.
pub struct Desk(AtomicU64);

impl Desk {
    pub fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}
";

const COUNT_ACTIONS: &str = r#"
fn main() -> Result<(), actum::registry::RegistryFaults> {
    let catalog = actum::Registry::linked()?.catalog();
    let ids = catalog.ids();
    let tools = || ids.iter().filter_map(|id| catalog.tool_descriptor_for(id.as_str()));
    let parameters = tools().filter_map(|tool| tool.parameters_schema.get("properties")?.as_object());
    println!(
        "{} tools, {} parameters, {} results",
        tools().count(),
        parameters.map(|properties| properties.len()).sum::<usize>(),
        tools().filter(|tool| tool.output_schema.is_some()).count(),
    );
    Ok(())
}
"#;

const COUNT_TOOLS: &str = r#"
#[rmcp::tool_handler]
impl rmcp::ServerHandler for Desk {}

fn main() {
    let tools = Desk::tool_router().list_all();
    let parameters = tools.iter().filter_map(|tool| tool.input_schema.get("properties")?.as_object());
    println!(
        "{} tools, {} parameters, {} results",
        tools.len(),
        parameters.map(|properties| properties.len()).sum::<usize>(),
        tools.iter().filter(|tool| tool.output_schema.is_some()).count(),
    );
}
"#;

/// One module: the types that its payloads share, then each handler with its payload and result.
fn module(side: Side, area: &Area, revision: u32) -> String {
    let mut out = String::from(match side {
        Side::Actum => "use actum::{ActionError, action};\n",
        Side::Rmcp => {
            "use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ErrorData, tool, tool_router};
"
        }
    });
    out.push_str(SHARED_TYPES);
    for handler in &area.handlers {
        types(&mut out, handler);
    }
    let revision_of = |nth| if nth == 0 { revision } else { 0 };
    let numbered = area.handlers.iter().enumerate();
    match side {
        Side::Actum => {
            for (nth, handler) in numbered {
                action(&mut out, area, handler, revision_of(nth));
            }
        }
        Side::Rmcp => {
            let name = area.name;
            let _ = write!(
                out,
                "
#[tool_router(router = {name}_router, vis = \"pub(crate)\")]
impl Desk {{"
            );
            for (nth, handler) in numbered {
                tool(&mut out, area, handler, revision_of(nth));
            }
            out.push_str("}\n");
        }
    }
    out
}

const SHARED_TYPES: &str = "use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Desk;

/// Where something is.
#[derive(Deserialize, JsonSchema)]
pub struct Place {
    /// The building.
    building: String,
    /// The floor, counted from the ground.
    floor: u32,
}

/// How much something matters.
#[derive(Deserialize, JsonSchema)]
pub enum Rank {
    /// Not much.
    Low,
    /// Neither much nor little.
    Middle,
    /// Very much.
    High,
}
";

/// The payload and the result of a handler.
fn types(out: &mut String, handler: &Handler) {
    let payload = handler.payload();
    let (verb, noun) = (handler.verb, handler.noun);
    let _ = write!(
        out,
        "
/// How to {verb} a {noun}.
#[derive(Deserialize, JsonSchema)]
pub struct {payload} {{
"
    );
    for Field { name, kind, doc } in &handler.fields {
        let _ = writeln!(out, "    /// {doc}");
        let ty = match kind {
            Kind::Text => "String",
            Kind::Integer => {
                out.push_str("    #[schemars(range(min = 1, max = 100))]\n");
                "u32"
            }
            Kind::Flag => "bool",
            Kind::PerhapsText => "Option<String>",
            Kind::Texts => "Vec<String>",
            Kind::Place => "Place",
            Kind::Rank => "Rank",
        };
        let _ = writeln!(out, "    {name}: {ty},");
    }
    let _ = write!(
        out,
        "}}

/// What came of it.
#[derive(Serialize, JsonSchema)]
pub struct {payload}Done {{
    /// Counted over all calls.
    number: u64,
    /// What was done, for people.
    text: String,
}}
"
    );
}

fn action(out: &mut String, area: &Area, handler: &Handler, revision: u32) {
    let Handler {
        verb,
        noun,
        description,
        ..
    } = handler;
    let (area, payload) = (area.name, handler.payload());
    let hint = if handler.read_only { ", read_only" } else { "" };
    let _ = write!(
        out,
        "
#[action(id = \"{area}.{verb}_{noun}\", description = \"{description}\"{hint})]
pub async fn {verb}_{noun}(desk: &Desk, ask: {payload}) -> Result<{payload}Done, ActionError> {{
    let mut number = desk.next() + {revision};
{body}    let text = format!(\"{verb} {noun} {{number}}\");
    Ok({payload}Done {{ number, text }})
}}
",
        body = body(handler, "    "),
    );
}

fn tool(out: &mut String, area: &Area, handler: &Handler, revision: u32) {
    let Handler {
        verb,
        noun,
        description,
        ..
    } = handler;
    let (area, payload) = (area.name, handler.payload());
    let hint = if handler.read_only {
        ", annotations(read_only_hint = true)"
    } else {
        ""
    };
    let _ = write!(
        out,
        "
    #[tool(description = \"{description}\"{hint})]
    pub async fn {area}_{verb}_{noun}(&self, Parameters(ask): Parameters<{payload}>) -> Result<Json<{payload}Done>, ErrorData> {{
        let mut number = self.next() + {revision};
{body}        let text = format!(\"{verb} {noun} {{number}}\");
        Ok(Json({payload}Done {{ number, text }}))
    }}
",
        body = body(handler, "        "),
    );
}

/// Lines that read every field of the payload.
fn body(handler: &Handler, indent: &str) -> String {
    let lines = handler.fields.iter().map(|field| {
        let name = field.name;
        let value = match field.kind {
            Kind::Text => format!("ask.{name}.len() as u64"),
            Kind::Integer => format!("u64::from(ask.{name})"),
            Kind::Flag => format!("u64::from(ask.{name})"),
            Kind::PerhapsText => format!("ask.{name}.map_or(0, |text| text.len() as u64)"),
            Kind::Texts => format!("ask.{name}.len() as u64"),
            Kind::Place => {
                format!("u64::from(ask.{name}.floor) + ask.{name}.building.len() as u64")
            }
            Kind::Rank => format!("ask.{name} as u64"),
        };
        format!("{indent}number += {value};\n")
    });
    lines.collect()
}
