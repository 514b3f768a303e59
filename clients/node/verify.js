// Is this webhook ours? One function to copy; Node 16 or newer, no packages.

const { createHmac, timingSafeEqual } = require("node:crypto");

// True if the request was signed with `secret` within five minutes of now. `headers` are those of
// Node or of fetch, `body` is a Buffer of the bytes as they came. Throws if the secret is empty.
function verify(secret, headers, body, nowMs = Date.now()) {
  if (!secret) throw new Error("the secret is empty, so anybody could sign");
  const given = (name) => (headers.get ? headers.get(name) : headers[name]) ?? "";
  const timestamp = given("x-webhook-timestamp");
  const signed = Buffer.concat([Buffer.from(`${timestamp}.${given("x-webhook-event")}.`), body]);
  const expected = Buffer.from("v1=" + createHmac("sha256", secret).update(signed).digest("hex"));
  const signature = Buffer.from(given("x-webhook-signature"));
  if (signature.length !== expected.length || !timingSafeEqual(expected, signature)) return false;
  return Math.abs(nowMs - Number(timestamp)) <= 5 * 60 * 1000;
}

module.exports = { verify };
