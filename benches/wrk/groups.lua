-- Errors of different groups.
local headers = { ["Authorization"] = "Bearer " .. os.getenv("KEY"), ["Content-Type"] = "application/json" }
local form = '{"exception":{"type":"Error%d","message":"cannot reach shard %d","backtrace":["app.py:10 in run"]},'
  .. '"level":"%s","user":{"id":"u%d"},"fingerprint":["g%d"],"environment":"production"}'
local n = 0

function request()
  n = n + 1
  local level = n % 3 == 0 and "fatal" or "error"
  return wrk.format("POST", "/api/v1/errors", headers, string.format(form, n % 50, n, level, n % 1000, n))
end
