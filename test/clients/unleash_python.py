"""An application with the feature flags of a project: for each line with a user it polls, and prints which flags are on for them."""

import json
import logging
import sys

from UnleashClient import UnleashClient
from UnleashClient.cache import FileCache

url, instance_id, app_name, folder = sys.argv[1:]
logging.disable()
client = UnleashClient(
    url=url,
    app_name=app_name,
    instance_id=instance_id,
    refresh_interval=3600,
    metrics_interval=3600,
    cache=FileCache(app_name, directory=f"{folder}/{app_name}"),
)
client.initialize_client()
for line in sys.stdin:
    for job in client.unleash_scheduler.get_jobs():
        if job.func.__name__ == "_fetch_and_load":
            job.func(*job.args, **job.kwargs)
    context = {"userId": line.strip()}
    flags = {name: client.is_enabled(name, context) for name in ["everyone", "rowan", "listed", "staging"]}
    print(json.dumps(flags), flush=True)
client.destroy()
