-- One path, repeatedly.
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
