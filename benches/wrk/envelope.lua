-- The Sentry envelope in the file ENVELOPE, compressed with gzip.
local file = io.open(os.getenv("ENVELOPE"), "rb")
wrk.body = file:read("*a")
file:close()
wrk.method = "POST"
local id, secret = string.match(os.getenv("KEY"), "^tt_([^_]+)_(.+)$")
wrk.headers["X-Sentry-Auth"] = "Sentry sentry_version=7, sentry_key=" .. id .. ", sentry_secret=" .. secret
wrk.headers["Content-Type"] = "application/x-sentry-envelope"
wrk.headers["Content-Encoding"] = "gzip"
