use actum::{ActionError, action};

#[action(name = "mail.read", desc = "Read the mail.")]
async fn handler() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.claims", description = "Read.", class = optional, claims("mail:read"))]
async fn claims() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.claim", description = "Read.", class = optional, claim("mail:read"))]
async fn claim() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.scopes", description = "Read.", class = optional, scopes("mail:read"))]
async fn scopes() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.rights", description = "Read.", class = optional, permissions("mail:read"))]
async fn permissions() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.role", description = "Read.", role("approver"), mode("test"))]
async fn role_and_mode() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.secret", description = "Read.", secret)]
async fn secret() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.secrets", description = "Read.", secrets)]
async fn secrets() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.redaction", description = "Read.", redaction("$.token" = "[TOKEN]"))]
async fn redaction() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.mask", description = "Read.", mask("$.token" = "[TOKEN]"))]
async fn mask() -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
