-- One job per request.
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"class_name":"Welcome","queue":"mail","arguments":{"to":"ada@example.com","template":"welcome","locale":"en"}}'
