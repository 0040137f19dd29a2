# Writes with the two InfluxDB client libraries as documented. Arguments: host, port, key, a time in milliseconds. Prints
# nothing on success.
import sys

from influxdb import InfluxDBClient as Version1
from influxdb.exceptions import InfluxDBClientError
from influxdb_client import InfluxDBClient as Version2
from influxdb_client import Point, WritePrecision
from influxdb_client.client.write_api import SYNCHRONOUS, WriteOptions
from influxdb_client.rest import ApiException

host, port, key, t0 = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


def version_1():
    client = Version1(
        host=host, port=port, path="/api/v1/influx", username="agent", password=key, database="any"
    )
    assert client.ping().startswith("telltale-"), client.ping()
    points = [
        {
            "measurement": "v1 points",
            "tags": {"host": "a b", "path": "x=y,z", "empty": ""},
            "time": t0 + i,
            "fields": {"f": 0.5 * i, "n": i, "ok": i % 2 == 0, "text": 'a "quoted"\nstring'},
        }
        for i in range(1000)
    ]
    assert client.write_points(points, time_precision="ms", batch_size=300)
    assert client.write_points([f"v1.lines,host=a value={i}i {t0 // 1000 + i}" for i in range(10)],
                               time_precision="s", protocol="line")
    try:
        client.write_points([f"v1.good value=1 {t0}", "v1.bad value=", f"v1.good value=2 {t0 + 1}"],
                            time_precision="ms", protocol="line")
        raise SystemExit("a bad line was taken")
    except InfluxDBClientError as error:
        assert error.code == 400, error.code
        assert "partial write: 1 of 3 lines rejected; line 2: " in str(error.content), error.content
    packed = Version1(host=host, port=port, path="/api/v1/influx", gzip=True,
                      headers={"Authorization": f"Token {key}"}, database="any")
    assert packed.write_points([f"v1.gzip value={i} {t0 + i}" for i in range(100)],
                               time_precision="ms", protocol="line")
    stranger = Version1(host=host, port=port, path="/api/v1/influx", username="agent", password="x", database="any")
    try:
        stranger.write_points(["v1.stranger value=1"], protocol="line")
        raise SystemExit("a stranger was let in")
    except InfluxDBClientError as error:
        assert error.code == 401, error.code


def version_2():
    with Version2(url=f"http://{host}:{port}/api/v1/influx", token=key, org="any") as client:
        assert client.ping()
        assert client.version().startswith("telltale-"), client.version()
        assert client.health().status == "pass", client.health()
        point = Point("v2 point").tag("host", "a=b, c").field("f", 1.5).field("n", 7).field("ok", True)
        point = point.field("text", 'a\\ "b"').time(t0, WritePrecision.MS)
        with client.write_api(write_options=SYNCHRONOUS) as write:
            write.write(bucket="any", record=point)
            for unit, divisor in (("ns", 1 / 1_000_000), ("us", 1 / 1_000), ("ms", 1), ("s", 1_000)):
                time = t0 // divisor if divisor >= 1 else t0 * round(1 / divisor)
                write.write(bucket="any", record=f"v2.units,unit={unit} value=1 {time}", write_precision=unit)
            try:
                write.write(bucket="any", record=["v2.good value=1", "v2.bad", "v2.good value=2"])
                raise SystemExit("a bad line was taken")
            except ApiException as error:
                assert error.status == 400, error.status
                assert "partial write: 1 of 3 lines rejected; line 2: " in error.body, error.body
        # Batched and compressed, as long-running programs write.
    failures = []
    with Version2(url=f"http://{host}:{port}/api/v1/influx", token=key, org="any", enable_gzip=True) as client:
        options = WriteOptions(batch_size=500, flush_interval=1_000)
        with client.write_api(write_options=options, error_callback=lambda *told: failures.append(told)) as write:
            for i in range(2000):
                write.write(bucket="any", record=Point("v2.batched").tag("n", i % 7).field("value", i).time(t0 + i, "ms"))
    assert not failures, failures


version_1()
version_2()
