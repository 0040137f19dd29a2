"""Generates a client from the OpenAPI document with openapi-python-client, compiles it, and uses it.

Arguments: the URL, the key, the document as a file, and a directory for the client.
"""

import compileall
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

URL, KEY, DOCUMENT, FOLDER = sys.argv[1:]
NAME = "telltale_client"

config = Path(FOLDER) / "generator.yaml"
# No formatter is needed.
config.write_text("post_hooks: []\n")
generator = [sys.executable, "-I", "-m", "openapi_python_client", "generate", "--meta", "none"]
made = subprocess.run(
    [*generator, "--path", DOCUMENT, "--output-path", f"{FOLDER}/{NAME}", "--config", str(config)],
    capture_output=True,
    text=True,
)
assert made.returncode == 0, made.stdout + made.stderr

# It supports JSON and forms: it skips the bodies of agent protocols with a message. Everything else is generated.
told = made.stdout + made.stderr
for warning in re.split(r"\n(?=WARNING|Unable)", told)[1:]:
    assert "Unsupported content" in warning, told

assert compileall.compile_dir(FOLDER, quiet=1), "the client does not compile"
sys.path.insert(0, FOLDER)
package = importlib.import_module(NAME)
modules = [module.name for module in pkgutil.walk_packages(package.__path__, f"{NAME}.")]
for module in modules:
    importlib.import_module(module)
endpoints = [name for name in modules if re.search(r"\.api\.\w+\.\w+$", name)]
assert len(endpoints) > 80, endpoints

from telltale_client import AuthenticatedClient, models  # noqa: E402
from telltale_client.api.dashboards import get_api_v1_dashboards_id, patch_api_v1_dashboards_id, post_api_v1_dashboards  # noqa: E402
from telltale_client.api.jobs import get_api_v1_jobs, get_api_v1_jobs_id, post_api_v1_jobs  # noqa: E402
from telltale_client.api.metrics import get_api_v1_metrics, get_api_v1_metrics_name_query, post_api_v1_metrics  # noqa: E402
from telltale_client.api.metrics import post_api_v1_metrics_batch  # noqa: E402

client = AuthenticatedClient(base_url=URL, token=KEY)

tracked = post_api_v1_metrics.sync(client=client, body=models.NumberMetricInput(name="cpu.usage", type_=models.NumberMetricInputType.GAUGE, value=42.5))
assert (tracked.data.name, tracked.data.value) == ("cpu.usage", 42.5), tracked
batch = models.MetricBatchInput(
    metrics=[
        models.NumberMetricInput(name="logins", type_=models.NumberMetricInputType.COUNTER, value=3),
        models.SetMetricInput(name="users", type_=models.SetMetricInputType.SET, value="ann"),
        models.NumberMetricInput(name="", type_=models.NumberMetricInputType.GAUGE, value=1),
    ]
)
answer = post_api_v1_metrics_batch.sync(client=client, body=batch)
assert (answer.data.accepted, answer.data.rejected, answer.data.errors[0].code) == (2, 1, "missing_name"), answer
listed = get_api_v1_metrics.sync(client=client, limit=2)
assert [metric.name for metric in listed.data] == ["cpu.usage", "logins"] and listed.meta.total >= 3, listed
asked = get_api_v1_metrics_name_query.sync(name="cpu.usage", client=client, from_="now-1h", aggregation="max")
assert [point.value for point in asked.data.series] == [42.5], asked
refused = get_api_v1_metrics_name_query.sync(name="nobody", client=client)
assert isinstance(refused, models.Error) and refused.error.code == "metric_not_found", refused

job = post_api_v1_jobs.sync(client=client, body=models.JobInput(class_name="SendMail", queue="mails"))
found = get_api_v1_jobs.sync(client=client, queue="mails")
assert [one.id for one in found.jobs] == [job.job_id], found
whole = get_api_v1_jobs_id.sync(id=job.job_id, client=client)
assert (whole.status, whole.failures, whole.run_at) == ("ready", [], None), whole

made = post_api_v1_dashboards.sync(client=client, body=models.DashboardInput(name="Shop", description="Orders"))
patch = models.DashboardPatch(name="Shops")
changed = patch_api_v1_dashboards_id.sync(id=made.data.id, client=client, body=patch)
assert (changed.data.name, changed.data.description) == ("Shops", "Orders"), "what is not named stays"
assert get_api_v1_dashboards_id.sync(id=made.data.id, client=client).data == changed.data
