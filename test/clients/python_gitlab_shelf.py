"""Stories of python_gitlab_walk.py: pipelines, flags, protected environments, and the small nouns of projects, groups and the instance."""

from python_gitlab_told import a_project, client, refused, same


def pipelines(place):
    project = a_project(place, "Rill")
    commit = project.commits.get("main")
    for name in ["build", "test"]:
        commit.statuses.create({"state": "success", "name": name, "coverage": 50.0})
    [listed] = project.pipelines.list(status="success", get_all=True)
    same((listed.sha, listed.source), (commit.id, "external"))
    pipeline = project.pipelines.latest(ref="main")
    same((pipeline.id, pipeline.detailed_status["text"], pipeline.coverage), (listed.id, "Passed", "50.00"))
    same(project.commits.get(commit.id).last_pipeline["id"], pipeline.id)
    jobs = pipeline.jobs.list(per_page=1, get_all=True)
    same(sorted(job.name for job in jobs), ["build", "test"])
    job = project.jobs.get(jobs[0].id)
    same((job.pipeline["id"], job.commit["id"]), (pipeline.id, commit.id))
    same(project.jobs.list(scope=["failed", "canceled"], get_all=True), [])
    same((pipeline.bridges.list(get_all=True), pipeline.variables.list(get_all=True)), ([], []))
    same((pipeline.test_report.get().total_count, pipeline.test_report_summary.get().total["count"]), (0, 0))
    same({status.pipeline_id for status in commit.statuses.list(get_all=True)}, {pipeline.id})
    refused(405, "405 Method Not Allowed", pipeline.retry)
    refused(405, "405 Method Not Allowed", job.play)
    refused(404, "404 Not Found", job.trace)
    refused(403, "403 Forbidden", pipeline.delete)
    client(place, "owner").projects.get(project.id).pipelines.delete(pipeline.id)
    same(project.pipelines.list(get_all=True), [])
    text = "press: {script: press}\nship: {script: ship, when: manual, stage: deploy}"
    project.files.create({"file_path": ".gitlab-ci.yml", "branch": "main", "content": text, "commit_message": "Build"})
    made = project.pipelines.create({"ref": "main", "variables": [{"key": "DEPTH", "value": "3"}]})
    same((made.source, made.status, [each.key for each in made.variables.list(get_all=True)]), ("api", "pending", ["DEPTH"]))
    [waiting] = project.jobs.list(scope=["pending"], get_all=True)
    same((waiting.name, waiting.stage), ("press", "test"))
    made.cancel()
    same(project.pipelines.get(made.id).status, "canceled")
    made.retry()
    [again] = project.jobs.list(scope=["pending"], get_all=True)
    same((again.name, again.id > waiting.id), ("press", True))
    again.cancel()
    refused(400, "400 Bad request - Unplayable Job", again.play)


def schedules(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    project.files.create({"file_path": ".gitlab-ci.yml", "branch": "main", "content": "press: {script: make}", "commit_message": "Press"})
    made = project.pipelineschedules.create({"ref": "main", "description": "Nightly", "cron": "0 1 * * 5", "active": False})
    made.variables.create({"key": "DEPTH", "value": "3"})
    made.variables.update("DEPTH", {"value": "4"})
    made.cron = "0 2 * * *"
    made.save()
    [listed] = project.pipelineschedules.list(scope="inactive", get_all=True)
    found = project.pipelineschedules.get(listed.id)
    same((found.ref, found.cron, found.attributes["variables"][0]["value"]), ("refs/heads/main", "0 2 * * *", "4"))
    project.pipelineschedules.get(made.id).play()
    theirs = client(place, "owner").projects.get(project.id).pipelineschedules.get(made.id)
    theirs.take_ownership()
    same(theirs.owner["username"], place["people"]["owner"]["username"])
    found.pipelines.list(get_all=True)
    found.delete()
    trigger = project.triggers.create({"description": "Remote"})
    started = project.trigger_pipeline("main", trigger.token, variables={"DEPTH": "3"})
    same((started.source, sorted(each.key for each in started.variables.list(get_all=True))), ("trigger", ["CI_TRIGGER_PAYLOAD", "DEPTH"]))
    refused(404, "404 Not found", project.trigger_pipeline, "main", "glptt-wrong")
    trigger.delete()
    same((project.triggers.list(get_all=True), project.resource_groups.list(get_all=True)), ([], []))


def runners(place):
    maintainer, owner, admin = [client(place, who) for who in ["maintainer", "owner", "admin"]]
    project, group = maintainer.projects.get(place["project"]["id"]), owner.groups.get(place["group"]["id"])
    registered = maintainer.runners.create({"token": project.runners_token, "tag_list": "linux,docker", "description": "Press"})
    maintainer.runners.verify(registered.token)
    refused(403, "403 Forbidden", maintainer.runners.verify, "unknown")
    made = maintainer.user.runners.create({"runner_type": "project_type", "project_id": project.id, "paused": True})
    same(made.token.startswith("glrt-"), True)
    of_group = owner.user.runners.create({"runner_type": "group_type", "group_id": group.id})
    same({each.id for each in maintainer.runners.list(get_all=True)}, {registered.id, made.id})
    same([each.id for each in maintainer.runners.list(paused=True)], [made.id])
    same(of_group.id in [each.id for each in admin.runners_all.list(get_all=True)], True)
    same([each.id for each in project.runners.list(type="group_type")], [of_group.id])
    same(of_group.id in [each.id for each in group.runners.list(get_all=True)], True)
    runner = maintainer.runners.get(registered.id)
    same((runner.description, runner.tag_list, runner.projects[0]["id"]), ("Press", ["docker", "linux"], project.id))
    runner.paused = True
    runner.tag_list = ["linux"]
    runner.save()
    same(maintainer.runners.get(runner.id).tag_list, ["linux"])
    same(runner.jobs.list(get_all=True), [])
    other = owner.projects.create({"name": "Runners", "namespace_id": group.id})
    owner.projects.get(other.id).runners.create({"runner_id": made.id})
    refused(403, "403 Forbidden - Runner associated with more than one project", owner.runners.delete, made.id)
    other.runners.delete(made.id)
    maintainer.runners.delete(made.id)
    maintainer.runners.delete(token=registered.token)
    refused(404, "404 Runner Not Found", maintainer.runners.get, registered.id)


def feature_flags(place):
    project = client(place, "developer").projects.get(place["project"]["id"])
    users = project.feature_flags_user_lists.create({"name": "Testers", "user_xids": ["ada", "bob"]})
    users.user_xids = ["ada"]
    users.save()
    same(project.feature_flags_user_lists.get(users.iid).user_xids, "ada")
    strategies = [{"name": "gitlabUserList", "parameters": {}, "user_list_id": users.id}]
    flag = project.feature_flags.create({"name": "ripening", "version": "new_version_flag", "strategies": strategies})
    same((flag.active, flag.strategies[0]["user_list"]["name"]), (True, "Testers"))
    refused(400, ["Name has already been taken"], project.feature_flags.create, {"name": "ripening", "version": "new_version_flag"})
    refused(409, ["User list is associated with a strategy"], users.delete)
    flag.active = False
    flag.description = "Not yet"
    flag.save()
    found = project.feature_flags.get("ripening")
    same((found.active, found.description, len(found.strategies)), (False, "Not yet", 1))
    project.feature_flags.create({"name": "sowing", "version": "new_version_flag"})
    same([each.name for each in project.feature_flags.list(per_page=1, get_all=True)], ["ripening", "sowing"])
    same([each.name for each in project.feature_flags.list(scope="enabled", get_all=True)], ["sowing"])
    flag.name = "ripe"
    flag.save()
    project.feature_flags.delete("ripe")
    users.delete()
    refused(404, "404 Not found", project.feature_flags.get, "ripening")


def protected_environments(place):
    project = a_project(place, "Gate")
    made = project.protected_environments.create({"name": "production", "deploy_access_levels": [{"access_level": 40}]})
    same((made.name, made.deploy_access_levels[0]["access_level"]), ("production", 40))
    text = "409 Conflict: Environment 'production' is already protected"
    refused(409, text, project.protected_environments.create, {"name": "production", "deploy_access_levels": [{"access_level": 40}]})
    deployment = {"environment": "production", "sha": project.commits.get("main").id, "ref": "main", "tag": False, "status": "success"}
    below = client(place, "developer").projects.get(project.id)
    refused(403, "403 Forbidden", below.deployments.create, deployment)
    same([each.name for each in project.protected_environments.list(get_all=True)], ["production"])
    project.protected_environments.get("production").delete()
    same(below.deployments.create(deployment).status, "success")


def badges(place):
    project, group = a_project(place, "Medal"), client(place, "owner").groups.get(place["group"]["id"])
    addresses = {"link_url": "https://ci.example/%{project_path}", "image_url": "https://ci.example/%{default_branch}.svg"}
    above = group.badges.create({**addresses, "name": "Build"})
    made = project.badges.create({**addresses, "name": "Cover"})
    same([(each.name, each.kind) for each in project.badges.list(get_all=True)], [("Build", "group"), ("Cover", "project")])
    refused(400, {"link_url": ["is blocked: Only allowed schemes are http, https"]}, project.badges.create, {**addresses, "link_url": "ftp://a"})
    refused(403, "To delete a Group badge please use the Group endpoint", project.badges.delete, above.id)
    made.image_url = "https://ci.example/second.svg"
    made.save()
    same(project.badges.get(made.id).rendered_image_url, "https://ci.example/second.svg")
    for level in [project, group]:
        same(level.badges.render(**addresses)["image_url"], addresses["image_url"])
    made.delete()
    above.delete()
    same(project.badges.list(get_all=True), [])


def templates(place):
    api = client(place, "developer")
    same("Python" in [each.name for each in api.gitignores.list(get_all=True)], True)
    same("__pycache__" in api.gitignores.get("Python").content, True)
    same("FROM" in api.dockerfiles.get(api.dockerfiles.list(get_all=True)[0].name).content, True)
    same(api.gitlabciymls.list(get_all=True), [])
    same(" Ada" in api.licenses.get("mit", fullname="Ada").content, True)
    same("mit" in [each.key for each in api.licenses.list(popular=True, get_all=True)], True)
    project = a_project(place, "Forms")
    template = {"file_path": ".gitlab/issue_templates/Bug.md", "branch": "main", "content": "What broke?", "commit_message": "Ask"}
    project.files.create(template)
    same([each.name for each in project.issue_templates.list(get_all=True)], ["Bug"])
    same(project.issue_templates.get("Bug").content, "What broke?")
    same(project.merge_request_templates.list(get_all=True), [])
    same(project.license_templates.get("mit").key, "mit")
    refused(404, "404 Template Not Found", project.issue_templates.get, "Wish")


def custom_attributes(place):
    admin = client(place, "admin")
    for level in [admin.users.get(place["people"]["guest"]["id"]), admin.groups.get(place["group"]["id"]), admin.projects.get(place["project"]["id"])]:
        same(level.customattributes.set("soil", "clay").value, "clay")
        level.customattributes.set("soil", "loam")
        same([(each.key, each.value) for each in level.customattributes.list(get_all=True)], [("soil", "loam")])
    found = admin.users.list(custom_attributes={"soil": "loam"}, with_custom_attributes=True, get_all=True)
    same([(each.id, each.custom_attributes) for each in found], [(place["people"]["guest"]["id"], [{"key": "soil", "value": "loam"}])])
    level.customattributes.get("soil").delete()
    refused(404, "404 Not found", level.customattributes.get, "soil")
    refused(403, "403 Forbidden", client(place, "owner").groups.get(place["group"]["id"]).customattributes.list)


def instance(place):
    admin = client(place, "admin")
    refused(400, {"color": ["is not a valid color"]}, admin.broadcastmessages.create, {"message": "Soon", "color": "reddish"})
    message = admin.broadcastmessages.create({"message": "Soon", "target_access_levels": [30, 40]})
    message.message = "Now"
    message.save()
    shown = client(place, "guest").broadcastmessages.get(message.id)
    same((shown.message, shown.target_access_levels, shown.active), ("Now", [30, 40], True))
    message.delete()
    same([each.id for each in admin.broadcastmessages.list(get_all=True) if each.id == message.id], [])

    appearance = admin.appearance.get()
    appearance.title = "Orchard"
    appearance.message_background_color = "#e75e40"
    appearance.save()
    same(admin.appearance.get().title, "Orchard")
    refused(403, "403 Forbidden", client(place, "owner").appearance.get)
    limits = admin.http_put("/application/plan_limits", post_data={"plan_name": "default", "project_hooks": 5})
    same(limits["project_hooks"], 5)
    refused(400, "plan_name does not have a valid value", admin.http_get, "/application/plan_limits", query_data={"plan_name": "gold"})
    same(int(admin.statistics.get().projects.replace(",", "")) >= 0, True)
    same(sorted(admin.sidekiq.compound_metrics()), ["jobs", "processes", "queues"])
    same(sorted(admin.sidekiq.job_stats()["jobs"]), ["dead", "enqueued", "failed", "processed"])
    refused(403, "403 Forbidden", client(place, "owner").sidekiq.queue_metrics)

    developer = client(place, "developer")
    developer.auth()
    key = developer.user.keys.create({"title": "Laptop", "key": place["public_key"]})
    same(admin.keys.get(key.id).user["username"], place["people"]["developer"]["username"])
    refused(400, "Failed to return the key", admin.keys.get, fingerprint="SHA256:nothing")


def repository_tools(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    newer = "2" * 40
    first = project.commits.get("main").id
    same(project.update_submodule("libs/press", "main", newer, commit_message="Press on\n\nChangelog: changed")["title"], "Press on")
    refused(400, f"The submodule libs/press is already at {newer}", project.update_submodule, "libs/press", "main", newer)
    path = f"/projects/{project.id}/repository/changelog"
    project.tags.create({"tag_name": "v0.9.0", "ref": first})
    gl = client(place, "maintainer")
    notes = gl.http_get(path, query_data={"version": "1.0.0"})["notes"]
    same("### changed (1 change)" in notes, True)
    gl.http_post(path, post_data={"version": "1.0.0"})
    same(project.files.raw("CHANGELOG.md", ref="main").decode(), notes)
    same(project.additionalstatistics.get().fetches["total"], 0)


def group_rules(place):
    group = client(place, "owner").groups.get(place["group"]["id"])
    rule = group.protectedbranches.create({"name": "release/*", "push_access_level": 40})
    same((rule.name, rule.push_access_levels[0]["access_level"]), ("release/*", 40))
    rule.allow_force_push = True
    rule.save()
    same(group.protectedbranches.get("release/*").allow_force_push, True)
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    same([each.name for each in project.protectedbranches.list(get_all=True) if each.inherited], ["release/*"])
    rule.delete()
    same(group.protectedbranches.list(get_all=True), [])

    approvals = project.approvals.get()
    approvals.reset_approvals_on_push = False
    approvals.save()
    same(project.approvals.get().reset_approvals_on_push, False)
    path = f"/groups/{group.id}/merge_request_approval_setting"
    gl = client(place, "owner")
    same(gl.http_put(path, post_data={"allow_author_approval": False})["allow_author_approval"]["value"], False)
    of_project = gl.http_get(f"/projects/{project.id}/merge_request_approval_setting")
    same(of_project["allow_author_approval"], {"value": False, "locked": True, "inherited_from": "group"})

    planner = place["people"]["planner"]
    [member] = group.billable_members.list(search=planner["username"], get_all=True)
    same((member.id, member.membership_type), (planner["id"], "group_member"))
    same([each.source_id for each in member.memberships.list(get_all=True)], [group.id])
    member.delete()
    same(group.billable_members.list(search=planner["username"], get_all=True), [])


def audit_events(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    for name in ["one", "two", "three"]:
        project.protectedbranches.create({"name": name})
    made = {"event_name": "protected_branch_created"}
    listed = project.audit_events.list(per_page=2, get_all=True, **made)
    same([event.details["target_details"] for event in listed], ["three", "two", "one"])
    found = project.audit_events.get(listed[0].id)
    same((found.author_id, found.entity_type, found.details["add"]), (place["people"]["maintainer"]["id"], "Project", "protected_branch"))
    admin = client(place, "admin")
    walked = admin.audit_events.list(entity_type="Project", entity_id=project.id, pagination="keyset", order_by="id", per_page=1, get_all=True, **made)
    same([event.id for event in walked], [event.id for event in listed])
    same(admin.audit_events.get(found.id).details["entity_path"], project.path_with_namespace)
    group = client(place, "owner").groups.get(place["group"]["id"])
    same(group.audit_events.list(get_all=True, **made), [])
    refused(404, "404 Audit Event Not Found", group.audit_events.get, found.id)
    refused(403, "403 Forbidden", client(place, "owner").audit_events.list)


def group_links(place):
    group = client(place, "owner").groups.get(place["group"]["id"])
    group.ldap_group_links.create({"provider": "directory", "cn": "cooks", "group_access": 30})
    group.ldap_group_links.create({"provider": "directory", "filter": "(title=cook)", "group_access": 20})
    listed = group.ldap_group_links.list(get_all=True)
    same([(link.cn, link.filter, link.group_access) for link in listed], [("cooks", None, 30), (None, "(title=cook)", 20)])
    group = client(place, "owner").groups.get(group.id)
    same((group.ldap_cn, group.ldap_access), ("cooks", 30))
    group.ldap_sync()
    for link in listed:
        link.delete()
    same(group.ldap_group_links.list(get_all=True), [])
    refused(404, "404 LDAP Group Link Not Found", listed[0].delete)
    refused(400, {"provider": ["does not exist"]}, group.ldap_group_links.create, {"provider": "other", "cn": "cooks", "group_access": 30})

    made = group.saml_group_links.create({"saml_group_name": "the cooks", "access_level": 30})
    same((made.name, made.access_level, made.provider), ("the cooks", 30, None))
    same(group.saml_group_links.get("the cooks").access_level, 30)
    same([link.name for link in group.saml_group_links.list(get_all=True)], ["the cooks"])
    made.delete()
    refused(404, "404 SAML Group Link Not Found", group.saml_group_links.get, "the cooks")


def applications(place):
    admin = client(place, "admin")
    given = {"name": "Orchard map", "redirect_uri": "https://map.example.com/callback", "scopes": "openid read_user"}
    made = admin.applications.create({**given, "confidential": True})
    same((made.application_name, made.callback_url, made.confidential, made.secret[:6]), ("Orchard map", given["redirect_uri"], True, "gloas-"))
    [listed] = [each for each in admin.applications.list(iterator=True) if each.id == made.id]
    same((listed.application_id, hasattr(listed, "secret")), (made.application_id, False))
    renewed = admin.http_post(f"/applications/{made.id}/renew-secret")
    same(renewed["secret"] != made.secret, True)
    refused(400, {"redirect_uri": ["must be an absolute URI."]}, admin.applications.create, {**given, "redirect_uri": "/callback"})
    refused(400, {"scopes": ["doesn't match configured on the server."]}, admin.applications.create, {**given, "scopes": "everything"})
    refused(403, "403 Forbidden", client(place, "owner").applications.list)
    admin.applications.delete(made.id)
    refused(404, "404 Application Not Found", admin.applications.delete, made.id)


STORIES = [applications, audit_events, group_links, pipelines, schedules, runners, feature_flags, protected_environments, badges, templates, custom_attributes, instance, repository_tools, group_rules]
