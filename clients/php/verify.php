<?php
// Is this webhook ours? One function to copy; PHP 7.1 or newer, no packages.

// True if the request was signed with $secret within five minutes of now. $headers is
// getallheaders(), $body is file_get_contents('php://input'). Throws if the secret is empty.
function verify(string $secret, array $headers, string $body, ?float $nowMs = null): bool
{
    if ($secret === '') {
        throw new InvalidArgumentException('the secret is empty, so anybody could sign');
    }
    $headers = array_change_key_case($headers);
    $timestamp = $headers['x-webhook-timestamp'] ?? '';
    $event = $headers['x-webhook-event'] ?? '';
    $expected = 'v1=' . hash_hmac('sha256', "$timestamp.$event.$body", $secret);
    if (!hash_equals($expected, $headers['x-webhook-signature'] ?? '')) {
        return false;
    }
    return abs(($nowMs ?? microtime(true) * 1000) - (int) $timestamp) <= 5 * 60 * 1000;
}
