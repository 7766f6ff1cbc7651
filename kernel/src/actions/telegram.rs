//! `telegram.reply:owner_channel`

use std::time::Duration;

use actum::{ActionError, Call, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The largest answer of the Bot API that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// A Telegram bot, or that there is none.
pub struct TelegramBot(Option<Bot>);

struct Bot {
    client: reqwest::Client,
    base_url: reqwest::Url,
    token: String,
}

impl std::fmt::Debug for TelegramBot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "TelegramBot(configured)"
        } else {
            "TelegramBot(none)"
        })
    }
}

impl TelegramBot {
    /// No bot is configured.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// A bot of the Bot API at `base_url`.
    ///
    /// # Errors
    /// [`reqwest::Error`] when no HTTP client can be made.
    pub fn new(base_url: reqwest::Url, token: String) -> Result<Self, reqwest::Error> {
        let client = crate::http::client()
            .timeout(Duration::from_secs(10))
            // The token stands in the path; it goes to the configured host and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self(Some(Bot {
            client,
            base_url,
            token,
        })))
    }
}

/// What to send.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendText {
    /// The text to send, 1 to 4,000 characters.
    #[schemars(length(min = 1, max = 4000))]
    pub text: String,
}

/// That it was sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sent {
    /// Telegram's id of the message.
    pub message_id: i64,
}

#[derive(Deserialize)]
struct BotAnswer {
    ok: bool,
    result: Option<SentMessage>,
    description: Option<String>,
}

#[derive(Deserialize)]
struct SentMessage {
    message_id: i64,
}

/// Sends a message to the Telegram chat that the task came from, and to no other: the chat is the
/// grant's, not an argument. Needs no approval of its own: it answers the owner in the owner's chat.
#[action(
    id = "telegram.reply:owner_channel",
    title = "Reply on Telegram",
    description = "Send a message to the owner in the Telegram chat that this task came from.",
    egress(channels = ["telegram.owner.reply"]),
    open_world
)]
pub async fn reply(bot: &TelegramBot, call: &Call, ask: SendText) -> Result<Sent, ActionError> {
    let Some(bot) = &bot.0 else {
        return Err(ActionError::unavailable(
            "no Telegram bot is configured (`telegram:`)",
        ));
    };
    let chat = call
        .reply_to
        .as_ref()
        .filter(|reply_to| reply_to.source == "telegram")
        .ok_or_else(|| ActionError::unavailable("the task did not come from a Telegram chat"))?;
    let mut url = bot.base_url.clone();
    url.path_segments_mut()
        .map_err(|()| ActionError::unavailable("`telegram.base_url` cannot have a path"))?
        .pop_if_empty()
        .extend([format!("bot{}", bot.token).as_str(), "sendMessage"]);
    let body = json!({"chat_id": chat.account, "text": ask.text});
    let answer = bot
        .client
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .map_err(not_sent)?;
    let status = answer.status();
    let answer: Option<BotAnswer> = read(answer)
        .await
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match answer {
        Some(BotAnswer {
            ok: true,
            result: Some(message),
            ..
        }) => Ok(Sent {
            message_id: message.message_id,
        }),
        Some(BotAnswer {
            ok: false,
            description,
            ..
        }) => Err(ActionError::failed(format!(
            "Telegram refused: {}",
            description.unwrap_or_default()
        ))),
        // Whoever sends elsewhere, or finds fault with the request, has not taken the message.
        None if status.is_redirection() || status.is_client_error() => {
            Err(ActionError::failed(format!("Telegram refused: {status}")))
        }
        _ => Err(ActionError::outcome_unknown(
            "Telegram took the message and gave no answer that can be read",
        )),
    }
}

/// What a failed request says of the message. The client's errors name the URL, and with it the
/// token, so the URL is left out.
fn not_sent(error: reqwest::Error) -> ActionError {
    let is_connect = error.is_connect();
    let told = format!("Telegram: {}", error.without_url());
    match is_connect {
        true => ActionError::unavailable(told),
        false => ActionError::outcome_unknown(told),
    }
}

/// The answer's body, if it comes to its end and is no larger than such an answer can be.
async fn read(mut answer: reqwest::Response) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_ANSWER {
            return None;
        }
    }
    Some(bytes)
}
