//! Arguments with secrets in them, as they are kept until an owner has decided: encrypted.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use ulid::Ulid;

use actum::Digest;

use crate::auth::Secret;
use crate::store::StoreError;

/// The length of an XChaCha20 nonce, which is random and stands before the text.
const NONCE: usize = 24;

/// Encrypts and opens the arguments of waiting calls.
pub(crate) struct Sealer {
    cipher: XChaCha20Poly1305,
    fingerprints: Hmac<Sha256>,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer(..)")
    }
}

impl Sealer {
    pub(crate) fn new(key: &Secret) -> Self {
        let cipher = XChaCha20Poly1305::new(&Key::from(*key.bytes()));
        // The two uses of one key file have a key each: that of the second is made by the first block of HMAC.
        let block = |text: &[u8]| {
            let mut padded = [0u8; 64];
            padded
                .iter_mut()
                .zip(text)
                .for_each(|(to, from)| *to = *from);
            <Hmac<Sha256> as hmac::KeyInit>::new(&padded.into())
        };
        let derived = block(key.bytes())
            .chain_update(b"actum fingerprints")
            .finalize();
        Self {
            cipher,
            fingerprints: block(&derived.into_bytes()),
        }
    }

    /// A digest that tells whether two texts are one, and nothing of them to whoever has not the key.
    pub(crate) fn fingerprint(&self, text: &[u8]) -> Digest {
        let mac = self.fingerprints.clone().chain_update(text);
        Digest::from_bytes(mac.finalize().into_bytes().into())
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
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload);
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
        let opened = self.cipher.decrypt(&XNonce::from(*nonce), payload);
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

    #[test]
    fn a_fingerprint_is_of_one_text_and_of_one_key() {
        let key = Secret::random().unwrap();
        let (one, same) = (Sealer::new(&key), Sealer::new(&key));
        let other = Sealer::new(&Secret::random().unwrap());
        assert_eq!(one.fingerprint(b"pay 5"), same.fingerprint(b"pay 5"));
        assert_ne!(one.fingerprint(b"pay 5"), one.fingerprint(b"pay 50"));
        assert_ne!(one.fingerprint(b"pay 5"), other.fingerprint(b"pay 5"));
        assert_ne!(one.fingerprint(b"pay 5"), Digest::of_bytes(b"pay 5"));
    }
}
