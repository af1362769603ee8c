"""The Python client python-gitlab against a server: a story for each line of standard input, which names it and its place as JSON.

The place has url, tokens and ids of people, project, group, odd_paths and public_key. A line of standard output says how the story ended: null, or what was raised.
Run with warnings as errors: the client warns of every reply that it finds odd.
"""

import base64
import gzip
import hashlib
import io
import json
import sys
import traceback

import gitlab
import python_gitlab_ci
import python_gitlab_shelf
from python_gitlab_told import a_project, client, day_in, refused, same


def people(place):
    admin = client(place, "admin")
    username = f"ada-{place['people']['admin']['id']}"
    account = {"username": username, "name": "Ada", "email": f"{username}@example.com", "force_random_password": True}
    user = admin.users.create({**account, "skip_confirmation": True})
    same((user.username, user.state), (username, "active"))
    user.bio = "Counts & computes"
    user.save()
    same(admin.users.get(user.id).bio, "Counts & computes")
    same([found.id for found in admin.users.list(username=username, get_all=True)], [user.id])
    same([found.id for found in admin.users.list(username=username, active=True, get_all=True)], [user.id])
    user.block()
    same(admin.users.get(user.id).state, "blocked")
    user.unblock()
    same(admin.users.get(user.id).state, "active")

    admin.auth()
    same(admin.user.username, place["people"]["admin"]["username"])
    same(len(admin.version()[0].split(".")), 3)


def tokens(place):
    admin = client(place, "admin")
    person = admin.users.get(place["people"]["outsider"]["id"])
    made = person.personal_access_tokens.create({"name": "laptop", "scopes": ["api", "self_rotate"], "expires_at": day_in(30)})
    same((made.name, made.scopes, made.expires_at), ("laptop", ["api", "self_rotate"], day_in(30)))

    hers = gitlab.Gitlab(place["url"], private_token=made.token)
    hers.auth()
    same(hers.user.id, person.id)
    same(hers.personal_access_tokens.get("self").id, made.id)
    assert made.id in [token.id for token in hers.personal_access_tokens.list(state="active", get_all=True)]
    rotated = hers.personal_access_tokens.rotate("self", expires_at=day_in(60))
    try:
        hers.auth()
        raise AssertionError("the old token still works")
    except gitlab.exceptions.GitlabAuthenticationError as error:
        same(error.response_code, 401)

    bearer = gitlab.Gitlab(place["url"], oauth_token=rotated["token"])
    bearer.auth()
    same(bearer.user.id, person.id)
    admin.personal_access_tokens.delete(rotated["id"])
    same(admin.personal_access_tokens.get(rotated["id"]).revoked, True)


def places(place):
    api = client(place, "outsider")
    path = f"atelier-{place['people']['outsider']['id']}"
    group = api.groups.create({"name": "The Atelier", "path": path, "visibility": "private"})
    sub = api.groups.create({"name": "Brushes", "path": "brushes", "parent_id": group.id})
    same((sub.full_path, sub.full_name), (f"{path}/brushes", "The Atelier / Brushes"))
    same(api.groups.get(sub.full_path).id, sub.id)
    group.description = "We paint"
    group.save()
    same(api.groups.get(group.id).description, "We paint")
    same([found.id for found in group.subgroups.list(get_all=True)], [sub.id])

    project = api.projects.create({"name": "Oil", "namespace_id": sub.id, "initialize_with_readme": True})
    same((project.path_with_namespace, project.default_branch), (f"{path}/brushes/oil", "main"))
    same(api.projects.get(project.path_with_namespace).id, project.id)
    project.description = "Water"
    project.save()
    same(api.projects.get(project.id).description, "Water")
    same([found.id for found in group.projects.list(include_subgroups=True, get_all=True)], [project.id])


def members(place):
    project = client(place, "owner").projects.get(place["project"]["id"])
    outsider = place["people"]["outsider"]["id"]
    member = project.members.create({"user_id": outsider, "access_level": gitlab.const.AccessLevel.REPORTER})
    same((member.id, member.access_level), (outsider, 20))
    refused(409, "Member already exists", project.members.create, {"user_id": outsider, "access_level": 30})
    member.access_level = 30
    member.expires_at = day_in(90)
    member.save()
    found = project.members.get(outsider)
    same((found.access_level, found.expires_at), (30, day_in(90)))
    same([one.id for one in project.members.list(get_all=True)], [outsider])
    everybody = {one.id for one in project.members_all.list(get_all=True, per_page=3)}
    same(everybody, {who["id"] for name, who in place["people"].items() if name != "admin"})
    member.delete()
    same(project.members.list(get_all=True), [])
    refused(404, "404 Not found", project.members.get, outsider)


def files(place):
    project = a_project(place, "Papers")
    project.files.create({"file_path": "poem.txt", "branch": "main", "content": "one\ntwo\n", "commit_message": "Begin"})
    file = project.files.get(file_path="poem.txt", ref="main")
    same((file.decode(), file.file_name, file.size), (b"one\ntwo\n", "poem.txt", 8))
    same(file.content_sha256, hashlib.sha256(b"one\ntwo\n").hexdigest())
    file.content = "one\n2\n"
    file.save(branch="main", commit_message="Count", author_name="Ada Lovelace", author_email="ada@example.com")
    change, beginning, _ = project.commits.list(ref_name="main", get_all=True)
    same((change.title, change.author_email, beginning.title), ("Count", "ada@example.com", "Begin"))
    blame = project.files.blame(file_path="poem.txt", ref="main")
    same([(part["commit"]["id"], part["lines"]) for part in blame], [(beginning.id, ["one"]), (change.id, ["2"])])

    result = project.ci_lint.get(include_jobs=True)
    same((result.valid, result.errors), (False, ["Please provide content of .gitlab-ci.yml"]))
    result = project.ci_lint.create({"content": "print: {script: [press]}", "dry_run": True, "include_jobs": True})
    same((result.valid, [job["name"] for job in result.jobs]), (True, ["print"]))
    project.ci_lint.validate({"content": "print: {script: [press]}"})

    head = project.files.head(file_path="poem.txt", ref="main")
    same((head["X-Gitlab-Size"], head["X-Gitlab-Last-Commit-Id"]), ("6", change.id))
    into = io.BytesIO()
    project.files.raw(file_path="poem.txt", ref="main", streamed=True, action=into.write)
    same(into.getvalue(), b"one\n2\n")
    noise = bytes(number * 167 % 256 for number in range(4096))
    project.files.create({"file_path": "n.bin", "branch": "main", "content": base64.encodebytes(noise).decode(), "encoding": "base64", "commit_message": "Noise"})
    same(project.files.raw(file_path="n.bin", ref="main"), noise)
    file.delete(branch="main", commit_message="Drop")
    refused(404, "404 File Not Found", project.files.get, file_path="poem.txt", ref="main")


def odd_names(place):
    project = a_project(place, "Odd names")
    for path in place["odd_paths"]:
        project.files.create({"file_path": path, "branch": "main", "content": "first\n", "commit_message": f"Add {path}"})
        project.files.update(path, {"branch": "main", "content": "second\n", "commit_message": f"Change {path}"})
        file = project.files.get(file_path=path, ref="main")
        same((file.file_path, file.decode()), (path, b"second\n"))
        same(project.files.raw(file_path=path, ref="main"), b"second\n")
        same(project.files.blame(file_path=path, ref="main")[0]["commit"]["message"], f"Change {path}")
        file.content = "third\n"
        file.save(branch="main", commit_message=f"Save {path}")
        project.files.delete(file_path=path, branch="main", commit_message=f"Remove {path}")


def branches_and_commits(place):
    project = a_project(place, "Oak")
    for name in ["feature/50%+1", "ünïcode", "release-1.0.x"]:
        branch = project.branches.create({"branch": name, "ref": "main"})
        same((branch.name, project.branches.get(name).commit["id"]), (name, branch.commit["id"]))
    same([found.name for found in project.branches.list(search="feature", get_all=True)], ["feature/50%+1"])
    same(len(project.branches.list(per_page=2, get_all=True)), 4)
    names = [found.name for found in project.branches.list(pagination="keyset", per_page=1, iterator=True)]
    same(names, ["feature/50%+1", "main", "release-1.0.x", "ünïcode"])
    project.branches.delete("feature/50%+1")
    refused(404, "404 Branch Not Found", project.branches.get, "feature/50%+1")

    for count in range(5):
        text = {"branch": "main", "content": f"{count}\n", "commit_message": f"Write {count}"}
        project.files.create({**text, "file_path": f"{count}.txt"})
    commits = project.commits.list(per_page=2, get_all=True)
    same([commit.title for commit in commits], [*(f"Write {count}" for count in range(4, -1, -1)), "Initial commit"])
    same(len(project.commits.list(page=2, per_page=4)), 2)
    shown = project.commits.get(commits[0].short_id)
    same((shown.id, shown.parent_ids, shown.stats["additions"]), (commits[0].id, [commits[1].id], 1))


def comments_on_commits(place):
    project = a_project(place, "Ash")
    base = project.commits.list(get_all=True)[0]
    text = {"branch": "main", "content": "one\ntwo\n", "commit_message": "Write"}
    project.files.create({**text, "file_path": "a b.txt"})
    commit = project.commits.get("main")
    plain = commit.comments.create({"note": "Fine."})
    same((plain.note, plain.path, plain.line), ("Fine.", None, None))
    lined = commit.comments.create({"note": "Why two?", "path": "a b.txt", "line": 2, "line_type": "new"})
    same((lined.path, lined.line, lined.line_type), ("a b.txt", 2, "new"))

    refs = {"base_sha": base.id, "start_sha": base.id, "head_sha": commit.id}
    position = {**refs, "position_type": "text", "new_path": "a b.txt", "new_line": 1}
    thread = commit.discussions.create({"body": "And one?", "position": position})
    first = thread.attributes["notes"][0]
    same((first["type"], first["commit_id"], first["position"]["new_line"]), ("DiffNote", commit.id, 1))
    note = thread.notes.create({"body": "To begin."})
    note.body = "To start."
    note.save()
    bodies = [[note["body"] for note in found.attributes["notes"]] for found in commit.discussions.list(get_all=True)]
    same(bodies, [["Fine."], ["Why two?"], ["And one?", "To start."]])
    same([found.note for found in commit.comments.list(get_all=True)], ["Fine.", "Why two?", "And one?", "To start."])
    bad = {"body": "x", "position": {**position, "new_line": 9}}
    words = """400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}"""
    refused(400, words, commit.discussions.create, bad)
    note.delete()
    same(len(commit.discussions.get(thread.id).attributes["notes"]), 1)
    refused(404, "404 Discussion Not Found", base.discussions.get, thread.id)


def freeze_periods(place):
    """The client has no objects for them, so it is asked by path."""
    api = client(place, "maintainer")
    url = f"/projects/{place['project']['id']}/freeze_periods"
    spans = [{"freeze_start": f"0 {hour} * * *", "freeze_end": "0 9 * * *"} for hour in range(5)]
    made = [api.http_post(url, post_data=span) for span in spans]
    same(list(api.http_list(url, per_page=2, iterator=True)), made)
    page = api.http_list(url, per_page=2, iterator=True)
    same([next(page) for _ in range(3)], made[:3])
    same((page.total, page.total_pages, page.current_page, page.prev_page, page.next_page), (5, 3, 2, 1, 3))

    first = f"{url}/{made[0]['id']}"
    changed = api.http_put(first, post_data={"cron_timezone": "Europe/Berlin"})
    same(changed, {**made[0], "cron_timezone": "Europe/Berlin", "updated_at": changed["updated_at"]})
    same(api.http_get(first), changed)
    api.http_delete(first)
    refused(404, "404 Not found", api.http_get, first)
    bad = {**spans[0], "freeze_start": "at night"}
    refused(400, {"freeze_start": [" is invalid syntax"]}, api.http_post, url, post_data=bad)


def environments_and_deployments(place):
    project = a_project(place, "Alder")
    commit = project.commits.get("main")
    made = project.environments.create({"name": "staging", "external_url": "https://alder.example"})
    same((made.slug, made.tier, made.state), ("staging", "staging", "available"))
    made.external_url = "https://staging.alder.example"
    made.save()
    same(project.environments.get(made.id).external_url, "https://staging.alder.example")
    wanted = {"environment": "production", "sha": commit.id, "ref": "main", "tag": False, "status": "running"}
    deployment = project.deployments.create(wanted)
    same((deployment.iid, deployment.environment["name"], deployment.sha), (1, "production", commit.id))
    deployment.status = "success"
    deployment.save()
    same([found.status for found in project.deployments.list(environment="production", get_all=True)], ["success"])
    same(list(deployment.mergerequests.list(get_all=True)), [])
    same([found.name for found in project.environments.list(get_all=True)], ["production", "staging"])
    same(project.environments.get(deployment.environment["id"]).last_deployment["id"], deployment.id)
    path = f"/projects/{project.id}/deployments/{deployment.id}"
    refused(400, "Deployment currently deployed to environment", deployment.manager.gitlab.http_delete, path)
    refused(403, "403 Forbidden", made.delete)
    made.stop()
    made.delete()
    protected = project.protected_environments.create({"name": "production", "deploy_access_levels": [{"access_level": 40}], "approval_rules": [{"access_level": 40}]})
    same((protected.name, protected.approval_rules[0]["required_approvals"]), ("production", 1))
    waiting = project.deployments.create(wanted)
    same((waiting.status, waiting.pending_approval_count), ("blocked", 1))
    refused(400, "The same user can not approve", waiting.approval, "approved")
    same(waiting.approval("rejected")["status"], "rejected")
    same(project.deployments.get(waiting.id).status, "failed")
    project.protected_environments.delete("production")
    same(project.protected_environments.list(get_all=True), [])
    refused(404, "404 Not found", project.environments.get, made.id)


def features(place):
    admin = client(place, "admin")
    name = "invitation_mail_preview"
    username = place["people"]["guest"]["username"]
    on_for_guest = admin.features.set(name, True, user=username, project=place["project"]["full_path"])
    same((on_for_guest.name, on_for_guest.state), (name, "conditional"))
    actors = {"key": "actors", "value": [f"Project:{place['project']['id']}", f"User:{place['people']['guest']['id']}"]}
    same(on_for_guest.gates, [{"key": "boolean", "value": False}, actors])
    same(admin.features.set(name, 30).gates[-1], {"key": "percentage_of_time", "value": 30})
    refused(400, "400 Bad request - nobody is not found!", admin.features.set, name, True, user="nobody")
    refused(403, "403 Forbidden", client(place, "owner").features.list, get_all=True)
    same([found.name for found in admin.features.list(get_all=True)], [name])
    same(admin.features.set(name, True).state, "on")
    admin.features.delete(name)
    same(admin.features.list(get_all=True), [])


def refusals(place):
    project_id = place["project"]["id"]
    refused(404, "404 Project Not Found", client(place, "outsider").projects.get, project_id)
    guest = client(place, "guest").projects.get(project_id)
    refused(403, "403 Forbidden", guest.commits.list, get_all=True)
    stranger = gitlab.Gitlab(place["url"], private_token="glpat-nobody-has-this")
    error = refused(401, "401 Unauthorized", stranger.projects.get, project_id)
    same(type(error), gitlab.exceptions.GitlabAuthenticationError)
    refused(404, "404 Project Not Found", gitlab.Gitlab(place["url"]).projects.get, project_id)
    developer = client(place, "developer").projects.get(project_id)
    bad = {"file_path": "../up", "branch": "main", "content": "", "commit_message": "x"}
    refused(400, "file_path should be a valid file path", developer.files.create, bad)


def sudo(place):
    admin = client(place, "admin")
    maintainer = place["people"]["maintainer"]
    same(admin.http_get("/user", sudo=maintainer["username"])["id"], maintainer["id"])
    project = admin.projects.get(place["project"]["id"])
    member = {"user_id": place["people"]["outsider"]["id"], "access_level": 20}
    refused(403, "403 Forbidden", project.members.create, member, sudo=place["people"]["developer"]["id"])
    project.members.create(member, sudo=maintainer["id"])
    same(len(project.members_all.list(get_all=True, per_page=2, sudo=maintainer["id"])), 7)


def keyset(place):
    api = client(place, "maintainer")
    ids = [place["project"]["id"], *(api.projects.create({"name": f"Project {count}"}).id for count in range(4))]
    ask = {"pagination": "keyset", "order_by": "id", "sort": "asc", "per_page": 2, "membership": True}
    same([found.id for found in api.projects.list(**ask, iterator=True)], ids)


def far_pages(place):
    project = client(place, "planner").projects.get(place["project"]["id"])
    everything = list(range(1, 1301))
    for order in ({"order_by": "title", "sort": "asc"}, {"order_by": "weight"}, {}):
        same(sorted(issue.iid for issue in project.issues.list(**order, iterator=True)), everything)
        same(sorted(issue.iid for issue in project.issues.list(**order, per_page=100, get_all=True)), everything)


def uploads(place):
    project = client(place, "guest").projects.get(place["project"]["id"])
    made = project.upload("load graph.png", filedata=b"pixels")
    same((made["alt"], made["markdown"]), ("load_graph", f"![load_graph]({made['url']})"))
    api = client(place, "maintainer")
    path = f"/projects/{project.id}{made['url']}"
    same(api.http_get(path, raw=True).content, b"pixels")
    [found] = api.http_list(f"/projects/{project.id}/uploads", get_all=True)
    same((found["filename"], found["size"]), ("load_graph.png", 6))
    api.http_delete(f"/projects/{project.id}/uploads/{found['id']}")
    refused(404, "404 Not Found", api.http_get, path)


def snippets(place):
    project = client(place, "reporter").projects.get(place["project"]["id"])
    files = [{"file_path": "b.txt", "content": "bees"}, {"file_path": "a.txt", "content": "apples"}]
    made = project.snippets.create({"title": "Fruit", "files": files, "visibility": "private"})
    same((made.file_name, made.content()), ("a.txt", b"apples"))
    made.title = "Trees"
    made.files = [{"action": "delete", "file_path": "a.txt"}]
    made.save()
    found = project.snippets.get(made.id)
    same((found.title, found.file_name, found.content()), ("Trees", "b.txt", b"bees"))
    same([each.id for each in project.snippets.list(get_all=True)], [made.id])
    developer = client(place, "developer").projects.get(project.id).snippets.get(made.id)
    refused(403, "403 Forbidden", developer.delete)
    made.delete()
    refused(404, "404 Not found", project.snippets.get, made.id)
    api = client(place, "outsider")
    mine = api.snippets.create({"title": "Mine", "file_name": "one.rb", "content": "puts 1", "visibility": "public"})
    same([each.id for each in api.snippets.list(get_all=True)], [mine.id])
    same(mine.id in [each.id for each in client(place, "guest").snippets.list_public(get_all=True)], True)
    same(mine.id in [each.id for each in client(place, "guest").snippets.list_all(get_all=True)], True)
    mine.description = "Of a kind"
    mine.save()
    same(client(place, "guest").snippets.get(mine.id).description, "Of a kind")
    mine.delete()


def wikis(place):
    api = client(place, "maintainer")
    for owner in [api.projects.get(place["project"]["id"]), api.groups.get(place["group"]["id"])]:
        made = owner.wikis.create({"title": "fruit/All apples", "content": "**Apples**"})
        same((made.slug, made.title, made.format), ("fruit/All-apples", "All apples", "markdown"))
        owner.wikis.create({"title": "Plums", "content": "Plums", "format": "org"})
        same([page.slug for page in owner.wikis.list(get_all=True)], ["Plums", "fruit/All-apples"])
        same([page.content for page in owner.wikis.list(with_content=True, iterator=True)], ["Plums", "**Apples**"])
        html = owner.wikis.get(made.slug, render_html=True)
        same(html.content.strip(), "<p><strong>Apples</strong></p>")
        made.content = "Apples"
        made.save()
        same(owner.wikis.get(made.slug).content, "Apples")
        attached = made.upload("tree.png", filedata=b"pixels")
        same(attached["link"]["markdown"], f"![tree]({attached['file_path']})")
        refused(400, "Duplicate page: A page with that title already exists", owner.wikis.create, {"title": "Plums", "content": "x"})
        made.delete()
        owner.wikis.delete("Plums")
        same(owner.wikis.list(get_all=True), [])
        refused(404, "404 Wiki Page Not Found", owner.wikis.get, "Plums")


def storage_moves(place):
    admin = client(place, "admin")
    for name in ["project", "group"]:
        id = place[name]["id"]
        path = f"/{name}s/{id}/repository_storage_moves"
        made = admin.http_post(path, post_data={"destination_storage_name": "default"})
        same((made["state"], made["destination_storage_name"], made[name]["id"]), ("scheduled", "default", id))
        same(admin.http_get(f"{path}/{made['id']}"), made)
        same(list(admin.http_list(path, iterator=True)), [made])
        same(made in admin.http_list(f"/{name}_repository_storage_moves", get_all=True), True)
        refused(400, {name: ["is read-only"]}, admin.http_post, path)
        refused(403, "403 Forbidden", client(place, "owner").http_post, path)
        accepted = admin.http_post(f"/{name}_repository_storage_moves", post_data={"source_storage_name": "default"})
        same(accepted, {"message": "202 Accepted"})


def relation_exports(place):
    api = client(place, "owner")
    for name in ["project", "group"]:
        path = f"/{name}s/{place[name]['id']}/export_relations"
        same(api.http_post(path), {"message": "202 Accepted"})
        statuses = api.http_list(f"{path}/status", get_all=True)
        same({status["status"] for status in statuses}, {1})
        [labels] = api.http_get(f"{path}/status", query_data={"relation": "labels"})
        same(labels in statuses, True)
        file = api.http_get(f"{path}/download", query_data={"relation": "labels"}, raw=True).content
        same(json.loads(gzip.decompress(file))["title"], "ripe")
        refused(400, "Export is not batched", api.http_get, f"{path}/download", query_data={"relation": "labels", "batched": True, "batch_number": 1})
        refused(403, "403 Forbidden", client(place, "developer").http_post, path)


def migrations(place):
    api, group = client(place, "owner"), place["group"]
    slug = f"{group['path']}-copy"
    entity = {"source_type": "group_entity", "source_full_path": group["full_path"], "destination_slug": slug, "destination_namespace": ""}
    configuration = {"url": place["url"], "access_token": place["people"]["owner"]["token"]}
    begun = api.bulk_imports.create({"configuration": configuration, "entities": [entity]})
    same([begun.status, begun.source_url], ["created", place["url"]])
    same(api.bulk_imports.get(begun.id).attributes, begun.attributes)
    same([one.id for one in api.bulk_imports.list(get_all=True)], [begun.id])
    [listed] = begun.entities.list(get_all=True)
    same([listed.source_full_path, listed.destination_slug, listed.failures], [group["full_path"], slug, []])
    same(begun.entities.get(listed.id).attributes, listed.attributes)
    same([one.id for one in api.bulk_import_entities.list(get_all=True)], [listed.id])
    same(api.http_list(f"/bulk_imports/{begun.id}/entities/{listed.id}/failures", get_all=True), [])
    same(api.http_post(f"/bulk_imports/{begun.id}/cancel")["status"], "canceled")
    refused(400, "The migration has already ended.", api.http_post, f"/bulk_imports/{begun.id}/cancel")
    refused(422, "Import failed. 'nowhere' not found.", api.bulk_imports.create, {"configuration": configuration, "entities": [{**entity, "source_full_path": "nowhere"}]})
    refused(404, "404 Not found", client(place, "developer").bulk_imports.get, begun.id)


def merge_requests(place):
    developer, reporter = place["people"]["developer"]["id"], place["people"]["reporter"]["id"]
    garden = a_project(place, "Garden")
    project = client(place, "developer").projects.get(garden.id)
    for branch in ["beans", "peas"]:
        text = {"branch": branch, "start_branch": "main", "content": f"{branch}\n", "commit_message": f"Sow {branch}"}
        project.files.create({**text, "file_path": f"{branch}.txt"})
    branches = {"source_branch": "beans", "target_branch": "main"}
    made = project.mergerequests.create({**branches, "title": "Draft: Beans", "labels": ["a", "b"], "reviewer_ids": [reporter]})
    same((made.iid, made.state, made.draft, made.labels, made.merge_status), (1, "opened", True, ["a", "b"], "unchecked"))
    twin = ["Another open merge request already exists for this source branch: !1"]
    refused(409, twin, project.mergerequests.create, {**branches, "title": "Again"})
    other = project.mergerequests.create({**branches, "source_branch": "peas", "title": "Peas", "remove_source_branch": True})

    made.title = "Beans"
    made.labels = ["b"]
    made.assignee_id = developer
    made.save()
    found = project.mergerequests.get(1)
    same((found.title, found.labels, found.assignees[0]["id"], found.detailed_merge_status), ("Beans", ["b"], developer, "mergeable"))
    same([commit.title for commit in found.commits(get_all=True)], ["Sow beans"])
    same([change["new_path"] for change in found.changes()["changes"]], ["beans.txt"])
    same([found.diffs.get(version.id).commits[0]["title"] for version in found.diffs.list(get_all=True)], ["Sow beans"])
    same([one.user["id"] for one in found.reviewer_details.list(get_all=True)], [reporter])
    same({person["id"] for person in found.participants(get_all=True)}, {developer, reporter})
    same(([*found.closes_issues()], found.pipelines.list(get_all=True)), ([], []))
    same(len(found.merge_ref()["commit_id"]), 40)

    def listed(of, **filters):
        return [one.iid for one in of.mergerequests.list(get_all=True, per_page=1, **filters)]

    same(listed(project), [2, 1])
    same(listed(project, labels=["b"], state="opened", iids=[1, 2]), [1])
    same(listed(project, query_parameters={"not": {"labels": "b"}}), [2])
    same(listed(client(place, "reporter").groups.get(place["group"]["id"]), author_id=developer, order_by="title", sort="asc"), [1, 2])
    same(listed(client(place, "reporter"), scope="reviews_for_me"), [1])

    note = found.notes.create({"body": "Deep enough?"})
    note.body = "Deep?"
    note.save()
    thread = found.discussions.create({"body": "And wide?"})
    thread.notes.create({"body": "Yes."})
    bodies = [[note["body"] for note in each.attributes["notes"] if not note["system"]] for each in found.discussions.list(get_all=True)]
    same([each for each in bodies if each], [["Deep?"], ["And wide?", "Yes."]])
    same(found.awardemojis.create({"name": "thumbsup"}).name, "thumbsup")
    same((found.time_estimate("1h")["time_estimate"], found.add_spent_time("30m")["total_time_spent"]), (3600, 1800))
    found.unsubscribe()
    found.subscribe()
    found.todo()
    same([event.action for event in found.resourcelabelevents.list(get_all=True)], ["add", "add", "remove"])

    refused(401, "401 Unauthorized", found.merge)
    refused(403, "403 Forbidden", found.delete)
    found.state_event = "close"
    found.save()
    same([event.state for event in found.resourcestateevents.list(get_all=True)], ["closed"])
    merging = garden.mergerequests.get(other.iid)
    merging.merge(merge_commit_message="Peas at last", should_remove_source_branch=False)
    same((merging.state, project.commits.list(get_all=True)[0].title), ("merged", "Peas at last"))
    refused(405, "405 Method Not Allowed", merging.merge)
    found.state_event = "reopen"
    found.save()
    same(found.rebase()["rebase_in_progress"], True)
    client(place, "owner").projects.get(garden.id).mergerequests.delete(2)
    same(listed(project, state="all"), [1])


def variables(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    group = client(place, "owner").groups.get(place["group"]["id"])
    for owner in [project, group]:
        variable = owner.variables.create({"key": "REGION", "value": "west", "environment_scope": "*"})
        same((variable.key, variable.value), ("REGION", "west"))
        variable.value = "east"
        variable.save()
        same(owner.variables.get("REGION").value, "east")
        taken = "(REGION) has already been taken"
        refused(400, {"key": [taken]}, owner.variables.create, {"key": "REGION", "value": "north"})
        same([found.key for found in owner.variables.list(get_all=True)], ["REGION"])
        owner.variables.delete("REGION", filter={"environment_scope": "*"})
        same(owner.variables.list(get_all=True), [])
    admin = client(place, "admin")
    variable = admin.variables.create({"key": "EVERYWHERE", "value": "correct-horse", "masked": True})
    same(admin.variables.get("EVERYWHERE").masked, True)
    variable.delete()


def deploy_tokens(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    group = client(place, "owner").groups.get(place["group"]["id"])
    before = [token.id for token in client(place, "admin").deploytokens.list(get_all=True)]
    for owner in [project, group]:
        token = owner.deploytokens.create(
            {"name": "foo", "username": "bar", "expires_at": day_in(0), "scopes": ["read_registry"]}
        )
        same((token.name, token.username, token.scopes), ("foo", "bar", ["read_registry"]))
        same((token.expires_at, token.token[:5]), (f"{day_in(0)}T00:00:00.000Z", "gldt-"))
        same(owner.deploytokens.get(token.id).name, "foo")
        same([found.id for found in owner.deploytokens.list(get_all=True)], [token.id])
        token.delete()
        same(owner.deploytokens.list(get_all=True), [])
    same([token.id for token in client(place, "admin").deploytokens.list(get_all=True)], before)


def topics(place):
    admin = client(place, "admin")
    word = f"topic-{place['project']['id']}"
    topic = admin.topics.create({"name": word, "title": "Apples", "description": "Fruit"})
    same((topic.name, topic.title, topic.total_projects_count), (word, "Apples", 0))
    topic.description = "Fruit of the apple tree"
    topic.save()
    same(gitlab.Gitlab(place["url"]).topics.get(topic.id).description, "Fruit of the apple tree")
    same([found.id for found in gitlab.Gitlab(place["url"]).topics.list(search=word, get_all=True)], [topic.id])
    project = client(place, "owner").projects.get(place["project"]["id"])
    project.topics = [word, f"{word}-too"]
    project.save()
    same(admin.topics.get(topic.id).total_projects_count, 1)
    other = admin.topics.list(search=f"{word}-too", get_all=True)[0]
    same(admin.topics.merge(topic.id, other.id)["id"], other.id)
    admin.topics.delete(other.id)


def push_rules(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    group = client(place, "owner").groups.get(place["group"]["id"])
    refused(404, "404 Not Found", group.pushrules.get)
    for owner in [project, group]:
        rule = owner.pushrules.create({"commit_message_regex": "^JIRA", "deny_delete_tag": True})
        same((rule.commit_message_regex, rule.deny_delete_tag, rule.member_check), ("^JIRA", True, False))
        rule.max_file_size = 5
        rule.save()
        found = owner.pushrules.get()
        same((found.max_file_size, found.commit_message_regex, found.reject_unsigned_commits), (5, "^JIRA", False))
    refused(422, "Project push rule exists", project.pushrules.create, {"member_check": True})
    refused(400, {"file_name_regex": ["not valid RE2 syntax: missing closing ): `(`"]}, group.pushrules.create, {"file_name_regex": "("})
    text = "Commit message does not follow the pattern '^JIRA'"
    file = {"file_path": "rule.txt", "branch": project.default_branch, "content": "x", "commit_message": "Fix"}
    refused(400, text, project.files.create, file)
    project.files.create({**file, "commit_message": "JIRA-1 Fix"})
    for owner in [project, group]:
        owner.pushrules.get().delete()
    refused(404, "404 Push rule Not Found", project.pushrules.delete)
    refused(404, "404 Not Found", group.pushrules.get)


def webhooks(place):
    project = client(place, "maintainer").projects.get(place["project"]["id"])
    hook = project.hooks.create({"url": "https://hooks.example.com/a", "issues_events": True, "token": "swordfish"})
    same((hook.push_events, hook.issues_events, hook.alert_status, hook.token_present), (True, True, "executable", True))
    same(hasattr(hook, "token"), False)
    hook.note_events = True
    hook.save()
    same([(found.id, found.note_events) for found in project.hooks.list(get_all=True)], [(hook.id, True)])
    refused(422, "Invalid url given", project.hooks.create, {"url": "http://localhost"})
    refused(422, "Ensure the project has merge requests.", hook.test, "merge_requests_events")
    hook.delete()
    refused(404, "404 Not found", project.hooks.get, hook.id)
    admin = client(place, "admin")
    system = admin.hooks.create({"url": "https://hooks.example.com/s", "repository_update_events": False})
    same(admin.hooks.get(system.id).repository_update_events, False)
    admin.hooks.delete(system.id)


def mirrors(place):
    project = a_project(place, "Rowan")
    refused(400, {"url": ["is blocked: Only allowed schemes are http, https, ssh, git"]}, project.remote_mirrors.create, {"url": "ftp://host.example/a.git"})
    made = project.remote_mirrors.create({"url": "https://rowan:secret@host.example/a.git", "keep_divergent_refs": True})
    same((made.url, made.enabled), ("https://*****:*****@host.example/a.git", False))
    made.only_protected_branches = True
    made.save()
    same([(found.id, found.only_protected_branches) for found in project.remote_mirrors.list(get_all=True)], [(made.id, True)])
    project.remote_mirrors.delete(made.id)
    same(project.remote_mirrors.list(get_all=True), [])
    refused(400, "The project is not mirrored", project.pull_mirror.get)
    project.pull_mirror.create({"url": "https://rowan:secret@host.example/b.git", "enabled": True})
    same(project.pull_mirror.get().url, "https://*****:*****@host.example/b.git")
    project.pull_mirror.start()


def releases(place):
    project = a_project(place, "Larch")
    refused(422, "Ref is not specified", project.releases.create, {"tag_name": "v1/0"})
    made = project.releases.create({"tag_name": "v1/0", "ref": "main", "name": "First", "description": "Notes"})
    same((made.tag_name, made.commit["id"], made.assets["count"]), ("v1/0", project.commits.get("main").id, 4))
    refused(409, "Release already exists", project.releases.create, {"tag_name": "v1/0"})
    release = project.releases.get("v1/0")
    release.description = "More"
    release.save()
    link = release.links.create({"name": "Manual", "url": "https://files.example/manual", "link_type": "runbook"})
    refused(400, ["Name has already been taken"], release.links.create, {"name": "Manual", "url": "https://files.example/other"})
    link.name = "Handbook"
    link.save()
    same([found.name for found in release.links.list(get_all=True)], ["Handbook"])
    release.links.delete(link.id)
    same([(found.name, found.description) for found in project.releases.list(get_all=True)], [("First", "More")])
    project.releases.delete("v1/0")
    refused(404, "404 Not Found", project.releases.get, "v1/0")
    same(project.tags.get("v1/0").release, None)


def geo_nodes(place):
    admin = client(place, "admin")
    own = admin.http_post("/geo_nodes", post_data={"name": place["url"], "url": place["url"], "primary": True})
    made = admin.http_post("/geo_nodes", post_data={"name": "Lisbon", "url": "https://lisbon.example.com"})
    node = admin.geonodes.get(made["id"])
    same(node.attributes, made)
    same([(one.name, one.primary, one.current) for one in admin.geonodes.list(get_all=True)], [(place["url"], True, True), ("Lisbon", False, False)])
    node.repos_max_capacity = 3
    node.save()
    same(admin.geonodes.get(node.id).repos_max_capacity, 3)
    refused(404, "404 Status for Geo node not found Not Found", node.status)
    [status] = admin.geonodes.status()
    same((status["geo_node_id"], status["healthy"]), (own["id"], False))
    same(admin.geonodes.get(own["id"]).status()["health"], "Geo is not set up on this site: COPPICE_GEO_ROLE is not set.")
    same(admin.geonodes.current_failures(), [])
    node.repair()
    same((node.geo_node_id, node.healthy), (made["id"], False))
    refused(400, "The primary cannot be removed while it has secondaries.", admin.geonodes.delete, own["id"])
    admin.geonodes.delete(made["id"])
    refused(404, "404 GeoNode Not Found", admin.geonodes.get, made["id"])
    refused(403, "403 Forbidden", client(place, "owner").geonodes.list)


def search(place):
    owner = client(place, "owner")
    project = owner.projects.get(place["project"]["id"])
    project.issues.create({"title": "Graft the mirabelle_tree"})
    for level in [owner, owner.groups.get(place["group"]["id"]), project]:
        same([found["title"] for found in level.search(gitlab.const.SearchScope.ISSUES, "mirabelle_tree")], ["Graft the mirabelle_tree"])
    same([found["title"] for found in project.search("issues", "mirabelle_tree", iterator=True)], ["Graft the mirabelle_tree"])
    refused(400, "scope does not have a valid value", project.search, "projects", "mirabelle")
    refused(400, "search is empty", owner.search, "issues", " ")


def boards(place):
    api = client(place, "reporter")
    for level in [api.projects.get(place["project"]["id"]), api.groups.get(place["group"]["id"])]:
        labels = [level.labels.create({"name": f"{level.id} {name}", "color": "#aabbcc"}) for name in ["todo", "doing"]]
        board = level.boards.create({"name": "Kanban"})
        ids = [label.id if hasattr(label, "id") else label.get_id() for label in labels]
        lists = [board.lists.create({"label_id": each}) for each in ids]
        same([each.position for each in lists], [0, 1])
        refused(400, {"label_id": ["has already been taken"]}, board.lists.create, {"label_id": ids[0]})
        lists[1].position = 0
        lists[1].save()
        same([each.id for each in board.lists.list()], [lists[1].id, lists[0].id])
        lists[1].delete()
        same([each.position for each in board.lists.list()], [0])
        board.name = "Harvest"
        board.save()
        same([each.name for each in level.boards.list()], ["Harvest"])
        board.delete()
        refused(404, "404 Not found", level.boards.get, board.id)
        for label in labels:
            label.delete()


STORIES = [boards, people, tokens, places, members, files, odd_names, branches_and_commits, comments_on_commits, freeze_periods, merge_requests, features, refusals, sudo, keyset, far_pages, variables, deploy_tokens, topics, uploads, push_rules, snippets, webhooks, wikis, storage_moves, relation_exports, migrations, geo_nodes, search, environments_and_deployments, releases, mirrors, *python_gitlab_shelf.STORIES, *python_gitlab_ci.STORIES]

if __name__ == "__main__":
    by_name = {story.__name__: story for story in STORIES}
    for line in sys.stdin:
        asked = json.loads(line)
        problem = None
        try:
            by_name[asked["story"]](asked["place"])
        except Exception:
            problem = traceback.format_exc()
        print(json.dumps(problem), flush=True)
