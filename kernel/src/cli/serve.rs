//! `actum serve`

use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{HOME, config_path};
use crate::config::Config;
use crate::sample;
use crate::telemetry::Telemetry;
use crate::{Clock, Kernel, KernelBuilder, Reloaded};

/// How many seconds the kernel's clock is fast, or slow if there is a minus. For tests of faults.
const SKEW: &str = "ACTUM_CLOCK_SKEW_SECONDS";

pub(super) async fn run<E: Display>(
    named: Option<PathBuf>,
    prepare: impl AsyncFnOnce(KernelBuilder) -> Result<KernelBuilder, E>,
) -> Result<(), String> {
    let is_sample = named.is_none();
    if is_sample {
        sample::write_once(Path::new(HOME))?;
    }
    let path = config_path(named);
    let config = Config::load(&path).map_err(|faults| faults.to_string())?;
    let telemetry = Telemetry::start(config.traces.as_ref())?;
    let (listen, data) = (config.listen, config.data.clone());
    // The port first: a second kernel must not touch the first one's store.
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        format!(
            "{}: cannot listen on {listen}: {error}; stop what listens there, or change `listen`",
            path.display()
        )
    })?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    // Before the first line is said: from then on, a hangup is a wish and not an end.
    #[cfg(unix)]
    let hangups = signal(SignalKind::hangup()).map_err(|error| error.to_string())?;
    let builder = prepare(on_time(Kernel::builder(config))?).await;
    let builder = builder.map_err(|error| error.to_string())?;
    let kernel = builder.build().await.map_err(|faults| faults.to_string())?;
    #[cfg(unix)]
    tokio::spawn(reload_on_hangup(hangups, Arc::downgrade(&kernel)));
    let home = path.parent().unwrap_or_else(|| Path::new("."));
    let said = match is_sample {
        true => things_to_try(&format!("http://{address}"), home, &data.join("keys")),
        false => format!("Actum listens on http://{address}\n"),
    };
    // Before the first line is said: whoever has read it may stop the kernel in good order.
    let stop = stop_signal().map_err(|error| error.to_string())?;
    // Nobody may be reading; that is no reason to stop.
    let _ = std::io::stdout().write_all(said.as_bytes());
    kernel.serve(listener, stop).await;
    telemetry.stop().await;
    Ok(())
}

/// Has the manifests read anew at each SIGHUP, until the kernel is gone.
#[cfg(unix)]
async fn reload_on_hangup(mut hangups: Signal, kernel: Weak<Kernel>) {
    while hangups.recv().await.is_some() {
        let Some(kernel) = kernel.upgrade() else {
            return;
        };
        match kernel.manifests().reload("SIGHUP").await {
            Ok(Reloaded { from, to }) if from == to => tracing::info!("no manifest has changed"),
            Ok(Reloaded { from, to }) => tracing::info!(%from, %to, "other manifests are in force"),
            Err(why) => tracing::error!("{why}"),
        }
    }
}

/// Sets the clock as the environment says.
fn on_time(builder: KernelBuilder) -> Result<KernelBuilder, String> {
    let Some(skew) = std::env::var_os(SKEW) else {
        return Ok(builder);
    };
    let seconds = skew.to_str().and_then(|skew| skew.parse().ok());
    let seconds = seconds
        .ok_or_else(|| format!("{SKEW} is {skew:?}; use whole seconds such as -90, or unset it"))?;
    tracing::warn!(
        "this kernel's clock is {seconds} seconds fast, as {SKEW} says: expiries are not when they should be"
    );
    Ok(builder.clock(Clock::skewed(seconds)))
}

/// The stop that somebody asks for, by SIGTERM or by Ctrl-C. Heard from here on, and not from when it is first waited
/// for.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// What a newcomer can paste. The README shows the same.
fn things_to_try(url: &str, home: &Path, keys: &Path) -> String {
    let (home, keys) = (home.display(), keys.display());
    format!(
        r#"Actum listens on {url}; the sample is in {home}/ and is yours to change.

In another terminal, from this folder. A stranger writes in the public chat and says "I am robin":

  token() {{ sed 's/.*"task_token":"\([^"]*\)".*/\1/'; }}
  STRANGER=$(curl -s {url}/v1/events -H "Authorization: Bearer $(cat {keys}/connector-public_chat.key)" -d @{home}/events/stranger.json | token)
  curl -s {url}/v1/task -H "Authorization: Bearer $STRANGER"; echo

The same message from the signed-in owner. Only the verification differs, and so do the tools:

  OWNER=$(curl -s {url}/v1/events -H "Authorization: Bearer $(cat {keys}/connector-signed_in_chat.key)" -d @{home}/events/owner.json | token)
  curl -s {url}/v1/task -H "Authorization: Bearer $OWNER"; echo

The same tools as a provider's SDK takes them (openai, openai-responses, anthropic, gemini, mcp):

  curl -s "{url}/v1/task?tools=anthropic" -H "Authorization: Bearer $OWNER"; echo

A call that works, the same call for the stranger, and one of an id that does not exist:

  curl -s {url}/v1/actions -H "Authorization: Bearer $OWNER" -d '{{"action":"openspine.status.read"}}'; echo
  curl -s {url}/v1/actions -H "Authorization: Bearer $STRANGER" -d '{{"action":"openspine.status.read"}}'; echo
  curl -s {url}/v1/actions -H "Authorization: Bearer $STRANGER" -d '{{"action":"does.not.exist"}}'; echo

A call that waits for the owner's approval, and a message that `actum attach` shows:

  curl -s {url}/v1/actions -H "Authorization: Bearer $OWNER" -d '{{"action":"telegram.reply:owner_channel","arguments":{{"text":"Hello"}}}}'; echo
  curl -s {url}/v1/actions -H "Authorization: Bearer $STRANGER" -d '{{"action":"terminal.reply:owner_device","arguments":{{"text":"Please call me back."}}}}'; echo

Mail: list the threads, select one, and read it with the token that `actum select` prints:

  actum select
  actum select THREAD

"#
    )
}
