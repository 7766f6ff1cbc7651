//! `actum project`

use std::path::{Path, PathBuf};

use actum::gate::Standing;
use actum::project;
use serde_json::json;

use super::load_config;
use super::origin::Origin;

pub(super) fn run(config: Option<PathBuf>, event: &Path, as_json: bool) -> Result<(), String> {
    let config = load_config(config)?;
    let origin = Origin::of_event(&config, &config.manifests, event)?;
    let route = origin.route.unwrap_or_default();
    let grant = origin.grant;
    let view = project(&grant, &origin.catalog);
    if as_json {
        let mut tools = String::new();
        view.write_tools(&mut tools);
        let tools: serde_json::Value =
            serde_json::from_str(&tools).map_err(|error| error.to_string())?;
        let all = json!({
            "route": route,
            "grant": grant.root(),
            "catalog": {"digest": view.digest(), "tools": tools},
        });
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return super::say(&format!("{text}\n"));
    }
    let root = grant.root();
    let mut out = format!(
        "route      {}\nprincipal  {}\npurpose    {}\nexpires    {}\nsources    {}\nview       {}\n\n",
        route,
        root.principal,
        root.purpose,
        root.expires_at,
        root.authority_sources.join(", "),
        view.digest()
    );
    for tool in view.tools() {
        let mark = match tool.standing() {
            Standing::Allowed => "",
            Standing::ApprovalRequired => " (requires owner approval)",
        };
        out.push_str(&format!(
            "  {}{mark}\n      {}\n",
            tool.descriptor().name,
            tool.descriptor().description
        ));
    }
    if view.is_empty() {
        out.push_str("  no tools\n");
    }
    super::say(&out)
}
