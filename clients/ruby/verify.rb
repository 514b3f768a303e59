# Is this webhook ours? One function to copy; Ruby 3.0 or newer, no gems.

require "openssl"

# True if the request was signed with `secret` within five minutes of now. `headers` is a hash of
# headers or Rack's environment, `body` is request.body.read. Raises if the secret is empty.
def verify(secret, headers, body, now_ms = Time.now.to_f * 1000)
  raise ArgumentError, "the secret is empty, so anybody could sign" if secret.to_s.empty?

  given = headers.to_h { |name, value| [name.to_s.downcase.tr("_", "-").delete_prefix("http-"), value] }
  timestamp = given["x-webhook-timestamp"].to_s
  signed = "#{timestamp}.#{given["x-webhook-event"]}.".b + body.b
  expected = "v1=#{OpenSSL::HMAC.hexdigest("SHA256", secret, signed)}"
  return false unless OpenSSL.secure_compare(expected, given["x-webhook-signature"].to_s)

  (now_ms - timestamp.to_i).abs <= 5 * 60 * 1000
end
