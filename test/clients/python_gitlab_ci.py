"""Stories of python-gitlab about pipelines of a configuration: their jobs, the runners of these, and the files that jobs read."""

from python_gitlab_told import a_project, client, refused, same

CONFIGURATION = """
stages: [build, deploy]
build: {stage: build, script: make}
ask: {stage: deploy, script: make ask, when: manual}
ship: {stage: deploy, script: make ship, needs: [], resource_group: production}
"""


def configured(place, name):
    made = a_project(place, name)
    action = {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIGURATION}
    made.commits.create({"branch": "main", "commit_message": "Build", "actions": [action]})
    return client(place, "owner").projects.get(made.id)


def pipelines_of_configurations(place):
    project = configured(place, "Weir")
    linted = project.ci_lint.create({"content": "build: {script: make}"})
    same((linted.valid, linted.errors), (True, []))
    same(project.ci_lint.get().valid, True)
    pipeline = project.pipelines.create({"ref": "main", "variables": [{"key": "DEPTH", "value": "3"}]})
    same([(each.key, each.value) for each in pipeline.variables.list()], [("DEPTH", "3")])
    same(pipeline.bridges.list(), [])
    jobs = {job.name: project.jobs.get(job.id) for job in pipeline.jobs.list()}
    same({name: job.status for name, job in jobs.items()}, {"build": "pending", "ask": "created", "ship": "pending"})
    same(jobs["build"].trace(), b"")
    jobs["build"].cancel()
    retried = project.jobs.get(jobs["build"].retry()["id"])
    same(retried.status, "pending")
    refused(400, "400 Bad request - Unplayable Job", retried.play)
    same(pipeline.cancel()["status"], "canceled")
    same(pipeline.retry()["id"], pipeline.id)
    [group] = project.resource_groups.list()
    group.process_mode = "oldest_first"
    group.save()
    same(project.resource_groups.get("production").process_mode, "oldest_first")
    same(pipeline.test_report.get().total_count, 0)
    same(project.pipelines.latest(ref="main").id, pipeline.id)
    pipeline.delete()
    same(project.pipelines.list(get_all=True), [])


def runners(place):
    project = configured(place, "Lock")
    owner = client(place, "owner")
    runner = owner.runners.create({"token": project.runners_token, "description": "Small", "tag_list": ["linux"]})
    owner.runners.verify(runner.token)
    same([each.id for each in project.runners.list()], [runner.id])
    known = owner.runners.get(runner.id)
    known.description = "Large"
    known.save()
    same(owner.runners.get(runner.id).description, "Large")
    same(known.jobs.list(), [])
    same([each.description for each in owner.runners.list()], ["Large"])
    known.delete()
    same(project.runners.list(), [])


def files_for_jobs(place):
    project = configured(place, "Gate")
    made = project.secure_files.create({"name": "key.jks", "file": b"secret"})
    same(project.secure_files.get(made.id).download(), b"secret")
    made.delete()
    same(project.secure_files.list(), [])
    scope = project.job_token_scope.get()
    same(scope.inbound_enabled, True)
    other = a_project(place, "Mill")
    scope.allowlist.create({"target_project_id": other.id})
    same(sorted(each.id for each in scope.allowlist.list()), sorted([project.id, other.id]))
    scope.allowlist.delete(other.id)


STORIES = [pipelines_of_configurations, runners, files_for_jobs]
