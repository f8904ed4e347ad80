// Verifies the signature of a webhook. Uses only the Node.js standard library.
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/**
 * Returns whether the signature is valid. `header` is X-SVC-Signature, `body` the raw bytes of the body, `secret` the
 * whole secret as it was shown, and `now` the Unix time in seconds.
 */
export function verify(secret: string, header: string, body: Uint8Array, now: number = Date.now() / 1000): boolean {
  const values = (name: string) =>
    header.split(",").filter((part) => part.startsWith(name + "=")).map((part) => part.slice(name.length + 1));
  const [timestamp, ...others] = values("t");
  if (timestamp === undefined || others.length > 0 || !/^[0-9]+$/.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const expected = Buffer.from(createHmac("sha256", secret).update(timestamp + ".").update(body).digest("hex"));
  const equal = (value: string) => {
    const signature = Buffer.from(value);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  };
  return values("v1").map(equal).includes(true);
}
