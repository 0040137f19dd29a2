"""ClickHouse (chdb) and DuckDB as embedded engines: loads and queries them, and prints rows like those of servers.

usage: embedded.py clickhouse|duckdb PART small|full FOLDER SCRATCH

FOLDER contains the columns of the set (or events.tsv), SCRATCH the files of the engine. Loads, queries and restarts run in
processes of their own, so that memory and CPU time are measured separately.
"""
import datetime
import importlib.metadata
import io
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

import numpy
import pyarrow
import pyarrow.csv

T0_S = 1704067200  # 2024-01-01T00:00:00Z
FIVE = ["usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait"]
# A longer load is cut off, and its rate is computed from the points loaded by then.
LOAD_SECONDS_MAX = {500: 8, 5_000: 8, 50_000: 120, 200_000: 600}
TIMES_MAX, TIMES_MIN, QUERY_SECONDS, PATIENCE_SECONDS = 200, 5, 3, 20
EVENT_COLUMNS = ["id", "name", "ts", "user_id", "value", "country", "plan", "version", "props"]


def report(row, **fields):
    print(json.dumps({"row": row, **fields}), flush=True)


def memory_peak_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def allocated(path):
    return sum(os.lstat(os.path.join(folder, name)).st_blocks * 512 for folder, _, names in os.walk(path) for name in names)


def tags_of(folder):
    with open(f"{folder}/series.tsv") as table:
        return table.readline().rstrip("\n").split("\t")


def sort_key(part, folder):
    if part == "events":
        return ["name", "ts"]
    return [*tags_of(folder)[: 3 if part == "latencies" else 2], "ts"]


class ClickHouse:
    """MergeTree, sorted by series and time; codecs as documented for time series."""

    durability = "in a part on disk, not synced"
    approximate_percentiles = "quantilesTDigest(0.5, 0.95, 0.99)(value)"
    exact_percentiles = "quantilesExact(0.5, 0.95, 0.99)(value)"
    exact_users, approximate_users = "uniqExact(user_id)", "uniq(user_id)"

    def __init__(self, path):
        from chdb import session

        self.path, self.session = path, session.Session(path)

    def version(self):
        return f"chdb {importlib.metadata.version('chdb')}, engine {self.rows('SELECT version()')[0][0]}"

    def make_table(self, part, folder):
        time_column = "ts DateTime64(%d) CODEC(DoubleDelta, ZSTD(1))" % (6 if part == "events" else 3)
        value = "value Float64 CODEC(Gorilla, ZSTD(1))"
        low = "{} LowCardinality(String)".format
        if part == "events":
            columns = ["id String", low("name"), time_column, "user_id String", value, *map(low, ["country", "plan", "version"]), "props String"]
        else:
            columns = [*map(low, tags_of(folder)), time_column, value]
        self.run(f"CREATE TABLE t ({', '.join(columns)}) ENGINE = MergeTree ORDER BY ({', '.join(sort_key(part, folder))})")

    def run(self, sql):
        return self.session.query(sql, "JSONCompact")

    def response(self, sql):
        return self.run(sql).bytes()

    def rows(self, sql):
        return json.loads(self.response(sql))["data"]

    @staticmethod
    def body(table):
        sink = io.BytesIO()
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()

    def insert(self, body):
        with self.session.send_insert("INSERT INTO t", "ArrowStream") as stream:
            stream.append(body)
            stream.finish()

    def merge(self, part, folder):
        """Only the active part counts: merged parts are deleted minutes later."""
        self.run("OPTIMIZE TABLE t FINAL")
        size = self.rows("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 't'")[0][0]
        return int(size), "the active part of the table"

    def close(self):
        self.session.close()

    @staticmethod
    def bucket(unit):
        return f"toStartOfInterval(ts, INTERVAL {unit})"

    @staticmethod
    def instant(seconds):
        return f"toDateTime64({seconds}, 3)"


class DuckDb:
    """One table with its defaults, rewritten in order of series and time at the end, as documented for queries of few among
    many series."""

    durability = "in the log, synced to disk"
    approximate_percentiles = "approx_quantile(value, [0.5, 0.95, 0.99])"
    exact_percentiles = "quantile_cont(value, [0.5, 0.95, 0.99])"
    exact_users, approximate_users = "count(DISTINCT user_id)", "approx_count_distinct(user_id)"

    def __init__(self, path):
        import duckdb

        os.makedirs(path, exist_ok=True)
        self.path, self.connection = path, duckdb.connect(f"{path}/t.duckdb")

    def version(self):
        return f"duckdb {importlib.metadata.version('duckdb')}"

    def make_table(self, part, folder):
        if part == "events":
            types = {"ts": "TIMESTAMP", "value": "DOUBLE"}
            columns = [f"{name} {types.get(name, 'VARCHAR')}" for name in EVENT_COLUMNS]
        else:
            columns = [*(f"{name} VARCHAR" for name in tags_of(folder)), "ts TIMESTAMP_MS", "value DOUBLE"]
        self.run(f"CREATE TABLE t ({', '.join(columns)})")

    def run(self, sql):
        return self.connection.execute(sql)

    def rows(self, sql):
        return self.run(sql).fetchall()

    response = rows

    @staticmethod
    def body(table):
        return table

    def insert(self, body):
        self.connection.register("batch", body)
        self.connection.execute("INSERT INTO t SELECT * FROM batch")

    def merge(self, part, folder):
        if part != "events":
            order = ", ".join(sort_key(part, folder))
            self.run(f"ATTACH '{self.path}/sorted.duckdb' AS o; CREATE TABLE o.t AS SELECT * FROM t ORDER BY {order}; CHECKPOINT o; DETACH o")
            self.close()
            os.replace(f"{self.path}/sorted.duckdb", f"{self.path}/t.duckdb")
            self.__init__(self.path)
        self.run("CHECKPOINT")
        return allocated(self.path), None

    def close(self):
        self.connection.close()

    @staticmethod
    def bucket(unit):
        return f"time_bucket(INTERVAL '{unit}', ts)"

    @staticmethod
    def instant(seconds):
        return f"make_timestamp({seconds}::BIGINT * 1000000)"


ENGINES = {"clickhouse": ClickHouse, "duckdb": DuckDb}


def points(folder, size):
    """Arrow tables of `size` points, in order of time."""
    with open(f"{folder}/series.tsv") as table:
        names = table.readline().rstrip("\n").split("\t")
        series = [line.rstrip("\n").split("\t") for line in table]
    dictionaries = [pyarrow.DictionaryArray.from_arrays(*numbered([row[k] for row in series])) for k in range(len(names))]
    times = numpy.memmap(f"{folder}/time.i64", "<i8", "r")
    numbers = numpy.memmap(f"{folder}/series.u32", "<u4", "r")
    values = numpy.memmap(f"{folder}/value.f64", "<f8", "r")
    for start in range(0, len(times), size):
        part = slice(start, start + size)
        which = pyarrow.array(numpy.array(numbers[part]))
        columns = [dictionary.take(which) for dictionary in dictionaries]
        columns.append(pyarrow.array(numpy.array(times[part]), pyarrow.timestamp("ms")))
        columns.append(pyarrow.array(numpy.array(values[part])))
        yield pyarrow.table(columns, [*names, "ts", "value"])


def numbered(values):
    """Returns the number of each value, and the distinct values."""
    known = {}
    numbers = [known.setdefault(value, len(known)) for value in values]
    return pyarrow.array(numbers, pyarrow.int32()), pyarrow.array(list(known))


def events(folder, size):
    types = {name: pyarrow.string() for name in EVENT_COLUMNS} | {"ts": pyarrow.int64(), "value": pyarrow.float64()}
    table = pyarrow.csv.read_csv(
        f"{folder}/events.tsv",
        pyarrow.csv.ReadOptions(column_names=EVENT_COLUMNS),
        pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
        pyarrow.csv.ConvertOptions(column_types=types),
    )
    table = table.set_column(2, "ts", table["ts"].cast(pyarrow.timestamp("us")))
    for start in range(0, len(table), size):
        yield table.slice(start, size).combine_chunks()


def load(engine, part, folder, scratch, size, then):
    """Loads the set, then `merge`s it and reports, or ends by SIGKILL immediately after the last insert."""
    shutil.rmtree(scratch, ignore_errors=True)
    db = ENGINES[engine](scratch)
    db.make_table(part, folder)
    seconds, cpu, count, took_ms = 0.0, 0.0, 0, []
    for table in events(folder, size) if part == "events" else points(folder, size):
        body = db.body(table)
        cpu_before, clock = time.process_time(), time.perf_counter()
        db.insert(body)
        took = time.perf_counter() - clock
        seconds, cpu, count = seconds + took, cpu + time.process_time() - cpu_before, count + len(table)
        took_ms.append(took * 1e3)
        if seconds > LOAD_SECONDS_MAX[size]:
            break
    if then == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    memory, cpu_before = memory_peak_mb(), time.process_time()
    size_bytes, counted = db.merge(part, folder)
    stored = int(db.rows("SELECT count(*) FROM t")[0][0])
    report("load", set="events" if part == "events" else "", format="rows (Arrow)", per_request=size, points=count, seconds=seconds,
         cpu_ack=cpu, cpu_flush=None, cpu_merge=cpu + time.process_time() - cpu_before, p50_ms=statistics.median(took_ms),
         p99_ms=sorted(took_ms)[int(len(took_ms) * 0.99)], memory_mb=memory, memory_merge_mb=memory_peak_mb(), refused=0,
         refusal=None, stored=stored)
    if then == "measure":
        report("disk", points=count, bytes=size_bytes, counted=counted)
    db.close()


def statements(db, part, hosts, hours):
    """Returns for each shape a function of the repetition that returns a statement."""
    minute, five, hour = map(db.bucket, ["1 MINUTE", "5 MINUTE", "1 HOUR"])

    def within(from_hour, to_hour):
        return f"ts >= {db.instant(T0_S + from_hour * 3600)} AND ts < {db.instant(T0_S + to_hour * 3600)}"

    def always(text):
        return lambda i: text

    if part in ("tsbs-small", "tsbs-medium"):
        def q1(i):
            at = i % min(hours, 5)
            return (f"SELECT {minute} b, avg(value) FROM t WHERE metric = 'usage_user' AND hostname = 'host_{i * 7 % hosts}' "
                    f"AND {within(at, at + 1)} GROUP BY b ORDER BY b")

        def q2(i):
            return (f"SELECT metric, {hour} b, max(value) FROM t WHERE metric IN ({', '.join(map(repr, FIVE))}) "
                    f"AND hostname = 'host_{i * 7 % hosts}' AND {within(0, hours)} GROUP BY metric, b ORDER BY metric, b")

        fleet = f"SELECT {{0}}, {{1}} b, avg(value) FROM t WHERE metric = 'usage_user' AND {{2}} GROUP BY {{0}}, b ORDER BY {{0}}, b".format
        return {"q1": q1, "q2": q2, "q3": always(fleet("hostname", hour, within(0, hours))),
                "q4": always(fleet("region", five, within(0, min(hours, 6))))}
    if part == "latencies":
        text = f"SELECT {five} b, {{}} FROM t WHERE metric = 'request_latency_ms' AND {within(0, 6)} GROUP BY b ORDER BY b".format
        return {"q5": always(text(db.approximate_percentiles)), "q5 exact": always(text(db.exact_percentiles))}
    if part != "events":
        return {}
    users = f"SELECT {hour} b, {{}} FROM t WHERE {within(0, 6)} GROUP BY b ORDER BY b".format
    prefix = "startsWith(name, 'checkout.')" if isinstance(db, ClickHouse) else "starts_with(name, 'checkout.')"
    return {
        "q6": always(users(db.exact_users)),
        "q6 approximate": always(users(db.approximate_users)),
        "q7": lambda i: f"SELECT id, name, ts, user_id, country, plan, version, props, value FROM t WHERE {prefix} "
                        f"AND country = 'C{i % 10:02d}' AND {within(0, 6)} ORDER BY ts DESC LIMIT 100",
        "q8": always(f"SELECT country, {hour} b, count(*) FROM t WHERE {within(0, 6)} GROUP BY country, b ORDER BY country, b"),
        "q9": always(f"SELECT [count(*), sum(value), avg(value), min(value), max(value)], {db.exact_percentiles} "
                     f"FROM t WHERE name = 'checkout.pay' AND {within(0, 6)}"),
    }


def digest(rows, shape):
    """Returns the count and sum of the numbers, without keys and bucket timestamps."""
    numbers = []
    for row in rows:
        for value in row if shape == "q9" else row[-1:]:
            numbers.extend(map(float, value if isinstance(value, (list, tuple)) else [value]))
    return len(numbers), sum(numbers)


def query(engine, part, hosts, hours, scratch):
    db = ENGINES[engine](scratch)
    for shape, make in statements(db, part, hosts, hours).items():
        took_ms, first, cpu, start = [], None, time.process_time(), time.perf_counter()
        while True:
            text, clock = make(len(took_ms)), time.perf_counter()
            # Complete responses: JSON of ClickHouse, rows of DuckDB.
            response = db.response(text)
            took_ms.append((time.perf_counter() - clock) * 1e3)
            if first is None:
                first = digest(json.loads(response)["data"] if engine == "clickhouse" else response, shape)
            times, seconds = len(took_ms) - 1, time.perf_counter() - start
            if times >= TIMES_MIN and (times >= TIMES_MAX or seconds > QUERY_SECONDS) or seconds > PATIENCE_SECONDS:
                break
        warm = sorted(took_ms[1:] or took_ms)
        report("query", shape=shape, state="final", first_ms=took_ms[0], p50_ms=warm[len(warm) // 2], p99_ms=warm[int(len(warm) * 0.99)],
             times=len(warm), cpu_ms=(time.process_time() - cpu) * 1e3 / len(took_ms), numbers=first[0], sum=first[1])
    db.close()


def reopen(engine, part, hosts, hours, scratch, expected, killed):
    """Opens the files and runs `q1` of the first hour, which is complete or not."""
    clock = time.perf_counter()
    db = ENGINES[engine](scratch)
    ready = time.perf_counter() - clock
    whole = len(db.rows(statements(db, part, hosts, hours)["q1"](0))) == 60
    response = time.perf_counter() - clock
    stored = int(db.rows("SELECT count(*) FROM t")[0][0])
    report("restart", signal="SIGKILL" if killed else "close", stop_s=0.0, ready_s=ready, answer_s=response if whole and stored == expected else None,
         points_before=expected, points_after=stored, memory_mb=memory_peak_mb())
    db.close()


def introduce(engine, scratch):
    db = ENGINES[engine](scratch)
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    report("peer", version=db.version(), durability=db.durability, day=day, load_average=os.getloadavg()[0])
    db.close()


def apart(*arguments):
    """Runs one of the above in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--apart", *map(str, arguments)], check=False)
    if done.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"{arguments} ended with {done.returncode}")


def whole_part(engine, part, scale, folder, scratch):
    hosts, hours = {"tsbs-small": (100, 12), "tsbs-medium": (1000, 2 if scale == "small" else 6)}.get(part, (1, 6))
    shutil.rmtree(scratch, ignore_errors=True)
    apart("introduce", engine, scratch)
    if part == "tsbs-small":
        for size in (500, 5_000):
            apart("load", engine, part, folder, scratch, size, "leave")
        apart("load", engine, part, folder, scratch, 50_000, "die")
        apart("reopen", engine, part, hosts, hours, scratch, os.path.getsize(f"{folder}/time.i64") // 8, 1)
    apart("load", engine, part, folder, scratch, 50_000 if part in ("tsbs-small", "events") else 200_000, "measure")
    apart("query", engine, part, hosts, hours, scratch)
    if part.startswith("tsbs-"):
        apart("reopen", engine, part, hosts, hours, scratch, os.path.getsize(f"{folder}/time.i64") // 8, 0)
    shutil.rmtree(scratch, ignore_errors=True)


def main():
    if sys.argv[1] != "--apart":
        return whole_part(*sys.argv[1:6])
    verb, *arguments = sys.argv[2:]
    verbs = {"introduce": introduce, "load": load, "query": query, "reopen": reopen}
    numbers = [int(a) if a.isdigit() else a for a in arguments]
    return verbs[verb](*numbers)


main()
