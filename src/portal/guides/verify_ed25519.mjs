// Verifies the Ed25519 signature of a webhook.
import { createPublicKey, verify as verifySignature } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

// Returns whether a signature is valid. publicKey begins with whpk_, and the names of headers are lowercase.
export function verify(publicKey, headers, body, now = Date.now() / 1000) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return signatures.split(' ').some((part) => {
    const [version, signature = ''] = part.split(',');
    return version === 'v1a' && verifySignature(null, signed, key, Buffer.from(signature, 'base64'));
  });
}
