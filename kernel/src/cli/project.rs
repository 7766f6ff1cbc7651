//! `actum project`

use std::path::{Path, PathBuf};

use actum::gate::Standing;
use actum::grant::SealKey;
use actum::{Registry, SealedGrant, project};
use serde_json::json;

use super::load_config;
use crate::clock::Clock;
use crate::ids::Ids;
use crate::ingress::{Composer, PostedEvent};

pub(super) fn run(config: Option<PathBuf>, event: &Path, as_json: bool) -> Result<(), String> {
    let config = load_config(config)?;
    let told = |problem: String| format!("{}: {problem}", event.display());
    let bytes = std::fs::read(event).map_err(|error| told(format!("cannot be read: {error}")))?;
    let value = actum::json::parse(&bytes).map_err(|fault| told(fault.to_string()))?;
    let posted: PostedEvent =
        serde_json::from_value(value).map_err(|error| told(error.to_string()))?;
    let names: Vec<&str> = config
        .connectors
        .iter()
        .map(|connector| connector.id.as_str())
        .collect();
    let connector = config
        .connectors
        .iter()
        .find(|connector| posted.connector.as_deref() == Some(connector.id.as_str()))
        .ok_or_else(|| told(format!("`connector` names one of {}", names.join(", "))))?;

    let registry = Registry::linked().map_err(|faults| faults.to_string())?;
    let manifests =
        crate::load_manifests(&config.manifests).map_err(|faults| faults.to_string())?;
    let catalog = registry
        .catalog()
        .and_known(config.known_actions.iter().cloned());
    let composer = Composer {
        manifests: &manifests,
        identities: &config.identities,
        catalog: &catalog,
        catalog_digest: catalog.digest().map_err(|error| error.to_string())?,
        ids: &Ids::random(),
        selection_lifetime: crate::config::Config::seconds(&config.limits.selection_seconds),
    };
    let composed = composer
        .compose(connector, &posted, Clock::system().now())
        .map_err(|turned| {
            told(format!(
                "leads to no task: {} ({})",
                turned.message, turned.reason
            ))
        })?;

    // A view is made of a verified grant alone, so this one is sealed, with a key that nobody keeps.
    let key = SealKey::new([0; 32]);
    let grant = SealedGrant::seal(composed.grant, &key)
        .map_err(|error| error.to_string())?
        .verify(&key)
        .map_err(|error| error.to_string())?;
    let view = project(&grant, &catalog);
    if as_json {
        let mut tools = String::new();
        view.write_tools(&mut tools);
        let tools: serde_json::Value =
            serde_json::from_str(&tools).map_err(|error| error.to_string())?;
        let all = json!({
            "route": composed.route,
            "grant": grant.root(),
            "catalog": {"digest": view.digest(), "tools": tools},
        });
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return super::say(&format!("{text}\n"));
    }
    let root = grant.root();
    let mut out = format!(
        "route      {}\nprincipal  {}\npurpose    {}\nexpires    {}\nsources    {}\nview       {}\n\n",
        composed.route,
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
