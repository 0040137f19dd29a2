-- Fetches fifty jobs as the worker WORKER, then acknowledges each in its own request, repeatedly.
local headers = { ["Authorization"] = "Bearer " .. os.getenv("KEY"), ["Content-Type"] = "application/json" }
local fetch = "/api/v1/workers/" .. os.getenv("WORKER") .. "/fetch"
local held, threads = {}, {}
acked = 0

function setup(thread)
  table.insert(threads, thread)
end

function request()
  local job = table.remove(held)
  if job == nil then
    return wrk.format("POST", fetch, headers, '{"limit":50}')
  end
  local body = '{"reservation_token":"' .. job.token .. '"}'
  return wrk.format("POST", "/api/v1/jobs/" .. job.id .. "/ack", headers, body)
end

function response(status, _, body)
  if string.find(body, '"jobs":', 1, true) == nil then
    if status == 200 then acked = acked + 1 end
    return
  end
  for id, token in string.gmatch(body, '"job_id":"(job_%w+)".-"reservation_token":"([^"]+)"') do
    table.insert(held, { id = id, token = token })
  end
end

function done(summary)
  local all = 0
  for _, thread in ipairs(threads) do all = all + thread:get("acked") end
  print(string.format("Jobs acknowledged/sec: %.0f", all / summary.duration * 1e6))
end
