# Uses the OpenTelemetry SDK as programs do. Arguments: key. Reads a line for each step: the address of the server and the
# step; prints a line for each, `done` on success.
import sys

import requests
from google.protobuf import json_format
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider, UpDownCounter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    MetricExporter,
    MetricExportResult,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource

key = sys.argv[1]
headers = {"authorization": f"Bearer {key}"}
address = None
sent = []


class Moving(MetricExporter):
    """Returns an exporter of the SDK to the present address of the server."""

    def export(self, metrics_data, timeout_millis=10_000, **kwargs):
        sent.append(metrics_data)
        exporter = OTLPMetricExporter(
            endpoint=f"http://{address}/v1/metrics", headers=headers, compression=Compression.Gzip
        )
        result = exporter.export(metrics_data, timeout_millis)
        assert result is MetricExportResult.SUCCESS, result
        return result

    def force_flush(self, timeout_millis=10_000):
        return True

    def shutdown(self, timeout_millis=30_000, **kwargs):
        pass


class Program:
    """Returns a meter with one instrument of each kind."""

    def __init__(self, name, temporality):
        kinds = {kind: temporality for kind in (Counter, UpDownCounter, Histogram)}
        reader = PeriodicExportingMetricReader(
            Moving(preferred_temporality=kinds), export_interval_millis=3_600_000
        )
        resource = Resource.create(
            {"service.name": f"shop-{name}", "host.name": "h1", "process.command": "not a tag"}
        )
        exponential = View(
            instrument_name=f"{name}.exponential", aggregation=ExponentialBucketHistogramAggregation()
        )
        self.provider = MeterProvider([reader], resource=resource, views=[exponential])
        meter = self.provider.get_meter("lib", "1.0")
        self.counter = meter.create_counter(f"{name}.counter")
        self.up_down = meter.create_up_down_counter(f"{name}.up_down")
        self.gauge = meter.create_gauge(f"{name}.gauge")
        self.histogram = meter.create_histogram(f"{name}.histogram")
        self.exponential = meter.create_histogram(f"{name}.exponential")

    def work(self, amounts):
        for amount in amounts:
            self.counter.add(amount, {"route": "/a", "code": 200})
            self.up_down.add(-amount if amount % 2 else amount)
            self.gauge.set(amount + 0.5)
            self.histogram.record(amount)
            self.exponential.record(amount)
        assert self.provider.force_flush()


def post(request, media, body):
    answer = requests.post(
        f"http://{address}/v1/metrics", body, headers={**headers, "content-type": media}, timeout=30
    )
    assert answer.status_code == 200, (answer.status_code, answer.text)
    assert answer.headers["content-type"] == media, answer.headers
    return answer


def go_on(metric):
    """Returns the metric one second later, with 32 added to a sum and a zero to a histogram."""
    kind = metric.WhichOneof("data")
    point = getattr(metric, kind).data_points[0]
    point.time_unix_nano += 1_000_000_000
    if kind == "sum":
        point.as_int += 32
    elif kind == "histogram":
        point.count += 1
        point.bucket_counts[0] += 1
    elif kind == "exponential_histogram":
        point.count += 1
        point.zero_count += 1


def as_json():
    """Sends the last request with other names in the JSON mapping of protobuf; then a partly invalid one."""
    request = encode_metrics(sent[-1])
    for metric in request.resource_metrics[0].scope_metrics[0].metrics:
        metric.name = f"json.{metric.name}"
    answer = post(request, "application/json", json_format.MessageToJson(request))
    assert answer.json() == {}, answer.text
    for metric in request.resource_metrics[0].scope_metrics[0].metrics:
        go_on(metric)
    answer = post(request, "application/json", json_format.MessageToJson(request))
    assert answer.json() == {}, answer.text
    gauges = [m for m in request.resource_metrics[0].scope_metrics[0].metrics if m.HasField("gauge")]
    gauges[0].gauge.data_points[0].as_double = float("nan")
    answer = post(request, "application/json", json_format.MessageToJson(request))
    assert answer.json()["partialSuccess"]["rejectedDataPoints"] == "1", answer.text
    answer = post(request, "application/x-protobuf", request.SerializeToString())
    partial = ExportMetricsServiceResponse.FromString(answer.content).partial_success
    assert partial.rejected_data_points == 1, partial
    assert "json.cumulative.gauge" in partial.error_message, partial
    stranger = OTLPMetricExporter(
        endpoint=f"http://{address}/v1/metrics", headers={"authorization": "Bearer x"}
    )
    assert stranger.export(sent[-1]) is MetricExportResult.FAILURE


delta, cumulative = AggregationTemporality.DELTA, AggregationTemporality.CUMULATIVE
programs = []
for line in sys.stdin:
    address, step = line.split()
    # Created while the server runs: of a stream that is older than the server, earlier increases are unknown.
    programs = programs or [Program("delta", delta), Program("cumulative", cumulative)]
    for program in programs:
        program.work({"first": [1, 2, 4], "second": [8, 16], "last": []}[step])
    if step == "last":
        as_json()
    print("done", flush=True)
