//! Arguments with secrets in them, as they are kept until an owner has decided: encrypted.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use ulid::Ulid;

use crate::auth::Secret;
use crate::store::StoreError;

/// The length of an XChaCha20 nonce, which is random and stands before the text.
const NONCE: usize = 24;

/// Encrypts and opens the arguments of waiting calls.
pub(crate) struct Sealer(XChaCha20Poly1305);

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Sealer {
    pub(crate) fn new(key: &Secret) -> Self {
        Self(XChaCha20Poly1305::new(&Key::from(*key.bytes())))
    }

    /// Encrypts a call's arguments, for that call alone.
    pub(crate) fn seal(&self, call: Ulid, text: &[u8]) -> Result<Vec<u8>, StoreError> {
        let broken = |what: &str| StoreError::Unreadable(format!("arguments to be sealed: {what}"));
        let mut nonce = [0u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|error| broken(&error.to_string()))?;
        let payload = Payload {
            msg: text,
            aad: &call.to_bytes(),
        };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| broken("they cannot be encrypted"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Opens what [`seal`](Self::seal) made for this call.
    pub(crate) fn open(&self, call: Ulid, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
        let broken = || StoreError::Unreadable(format!("the sealed arguments of the call {call}"));
        let (nonce, text) = sealed.split_first_chunk::<NONCE>().ok_or_else(broken)?;
        let payload = Payload {
            msg: text,
            aad: &call.to_bytes(),
        };
        let opened = self.0.decrypt(&XNonce::from(*nonce), payload);
        opened.map_err(|_| broken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_for_one_call_is_opened_for_it_alone_and_only_unchanged() {
        let sealer = Sealer::new(&Secret::random().unwrap());
        let text = br#"{"key":"sentinel-4711"}"#;
        let sealed = sealer.seal(Ulid(1), text).unwrap();
        assert_eq!(sealer.open(Ulid(1), &sealed).unwrap(), text);
        assert!(!sealed.windows(8).any(|window| window == b"sentinel"));
        assert_ne!(sealer.seal(Ulid(1), text).unwrap(), sealed);
        assert!(sealer.open(Ulid(2), &sealed).is_err());
        assert!(
            Sealer::new(&Secret::random().unwrap())
                .open(Ulid(1), &sealed)
                .is_err()
        );
        for place in [0, NONCE, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(sealer.open(Ulid(1), &changed).is_err(), "{place}");
        }
        assert!(sealer.open(Ulid(1), &sealed[..NONCE - 1]).is_err());
    }
}
