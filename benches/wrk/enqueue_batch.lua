-- A thousand jobs per request.
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
wrk.headers["Content-Type"] = "application/json"
local job = '{"class_name":"Welcome","queue":"bulk","arguments":{"to":"ada@example.com","template":"welcome","locale":"en"}}'
local jobs = {}
for i = 1, 1000 do jobs[i] = job end
wrk.body = '{"jobs":[' .. table.concat(jobs, ",") .. "]}"
