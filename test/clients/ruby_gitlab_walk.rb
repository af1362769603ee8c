# The Ruby client gitlab against a server: a story for each line of standard input, which names it and its place as JSON.
# The place has url, tokens and ids of people, project and group. A line of standard output says how the story ended: null, or what was raised.
require "gitlab"
require "json"

def client(place, persona)
  Gitlab.client(endpoint: "#{place["url"]}/api/v4", private_token: place["people"][persona]["token"])
end

def same(found, expected)
  raise "#{found.inspect} is not #{expected.inspect}" unless found == expected
end

# Calls what must be refused, with this kind of error and this text in the client's words.
def refused(kind, text)
  yield
rescue kind => error
  same(error.message[/message: (.*)\. Request URI/m, 1], text)
else
  raise "not refused: #{text}"
end

BAD = Gitlab::Error::BadRequest
FORBIDDEN = Gitlab::Error::Forbidden
NOT_FOUND = Gitlab::Error::NotFound

def a_project(place, name)
  made = client(place, "owner").create_project(name, namespace_id: place["group"]["id"], initialize_with_readme: true)
  [client(place, "maintainer"), made.id]
end

def boards(place)
  api = client(place, "reporter")
  project = place["project"]["id"]
  todo, doing = %w[todo doing].map { |name| api.create_label(project, name, "#aabbcc") }
  board = api.create_board(project, "Kanban")
  lists = [todo, doing].map { |label| api.create_board_list(project, board.id, label.id) }
  same(lists.map(&:position), [0, 1])
  refused(BAD, "'label_id' has already been taken") { api.create_board_list(project, board.id, todo.id) }
  same(api.edit_board_list(project, board.id, lists[1].id, 0).position, 0)
  same(api.board_lists(project, board.id).map { |list| list.label.name }, %w[doing todo])
  api.delete_label(project, "doing")
  same(api.board_lists(project, board.id).map(&:position), [0])
  changed = api.edit_board(project, board.id, name: "Harvest", weight: 4)
  same([changed.name, changed.weight], ["Harvest", 4])
  api.create_board(project, "Another")
  same(api.boards(project, per_page: 1).auto_paginate.map(&:name), %w[Another Harvest])
  refused(FORBIDDEN, "403 Forbidden") { client(place, "guest").delete_board(project, board.id) }
  api.delete_board(project, board.id)
  refused(NOT_FOUND, "404 Not found") { api.board(project, board.id) }

  group = place["group"]["id"]
  label = api.create_group_label(group, "ripe", "#aabbcc")
  board = api.create_group_board(group, "Orchard")
  list = api.create_group_board_list(group, board.id, label.id)
  same(api.group_board_list(group, board.id, list.id).label.name, "ripe")
  refused(BAD, "'error' List could not be moved!") { api.edit_group_board_list(group, board.id, list.id, position: 9) }
  api.delete_group_board_list(group, board.id, list.id)
  same(api.group_board(group, board.id).lists, [])
  api.edit_group_board(group, board.id, hide_backlog_list: true)
  same(api.group_boards(group).map { |each| [each.name, each.hide_backlog_list] }, [["Orchard", true]])
  api.delete_group_board(group, board.id)
end

def search(place)
  api, project = a_project(place, "Reed")
  issue = api.create_issue(project, "Cut the bulrush_bed")
  same(api.search_globally("issues", "bulrush_bed").map(&:id), [issue.id])
  same(api.search_in_group(place["group"]["id"], "issues", "bulrush_bed").map(&:id), [issue.id])
  same(api.search_in_project(project, "issues", "##{issue.iid}").map(&:title), ["Cut the bulrush_bed"])
  api.create_branch(project, "wet", "main")
  api.create_file(project, "bed.txt", "wet", "bulrush_bed\n", "Plant")
  same(api.search_in_project(project, "blobs", "bulrush_bed", "wet").map { |found| [found.path, found.startline] }, [["bed.txt", 1]])
  same(api.search_in_project(project, "blobs", "bulrush_bed").size, 0)
  same(client(place, "outsider").search_globally("issues", "bulrush_bed").size, 0)
  refused(BAD, "scope does not have a valid value") { api.search_in_project(project, "projects", "reed") }
end

def releases(place)
  api, project = a_project(place, "Larch")
  refused(Gitlab::Error::Unprocessable, "Ref is not specified") { api.create_project_release(project, tag_name: "v1.0") }
  links = [{ name: "Manual", url: "https://files.example/manual" }, { name: "Packet", url: "https://files.example/packet", direct_asset_path: "/packet" }]
  made = api.create_project_release(project, tag_name: "v1.0", ref: "main", name: "First", description: "Notes", assets: { links: links })
  same([made.tag_name, made.assets.count, made.evidences.size], ["v1.0", 6, 1])
  same(api.tag(project, "v1.0").release.description, "Notes")
  refused(Gitlab::Error::Conflict, "Release already exists") { api.create_project_release(project, tag_name: "v1.0") }
  same(api.update_project_release(project, "v1.0", description: "More").description, "More")
  packet, manual = api.project_release_links(project, "v1.0").to_a
  same([packet.name, manual.name], %w[Packet Manual])
  refused(BAD, "Name has already been taken") { api.create_project_release_link(project, "v1.0", name: "Manual", url: "https://files.example/other") }
  api.update_project_release_link(project, "v1.0", manual.id, name: "Handbook", link_type: "runbook")
  found = api.project_release_link(project, "v1.0", manual.id)
  same([found.name, found.link_type], %w[Handbook runbook])
  api.delete_project_release_link(project, "v1.0", packet.id)
  same(api.project_releases(project).map { |release| [release.name, release.assets.links.map(&:name)] }, [["First", ["Handbook"]]])
  refused(FORBIDDEN, "403 Forbidden") { client(place, "reporter").delete_project_release(project, "v1.0") }
  api.delete_project_release(project, "v1.0")
  refused(NOT_FOUND, "404 Not Found") { api.project_release(project, "v1.0") }
end

def environments(place)
  api, project = a_project(place, "Slope")
  staging = api.create_environment(project, "staging", external_url: "https://a.example")
  same([staging.slug, staging.tier, staging.state], %w[staging staging available])
  refused(BAD, "'name' has already been taken") { api.create_environment(project, "staging") }
  same(api.edit_environment(project, staging.id, tier: "testing").tier, "testing")
  sha = api.commit(project, "main").id
  recorded = { environment: "production", sha: sha, ref: "main", tag: false, status: "success" }
  made = api.post("/projects/#{project}/deployments", body: recorded) # it has no method for it
  same(api.deployment(project, made.id).sha, sha)
  same(api.deployments(project, environment: "production").map(&:status), ["success"])
  same(api.environments(project, per_page: 1).auto_paginate.map(&:name), %w[production staging])
  same(api.environment(project, made.environment.id).last_deployment.id, made.id)
  refused(FORBIDDEN, "403 Forbidden") { api.delete_environment(project, staging.id) }
  api.stop_environment(project, staging.id)
  api.delete_environment(project, staging.id)
  refused(NOT_FOUND, "404 Not found") { api.environment(project, staging.id) }
end

def pipelines(place)
  api, project = a_project(place, "Rill")
  sha = api.commit(project, "main").id
  %w[build test].each { |name| api.update_commit_status(project, sha, "success", name: name, coverage: 50) }
  pipeline = api.pipelines(project, status: "success").first
  same([pipeline.sha, pipeline.source], [sha, "external"])
  shown = api.pipeline(project, pipeline.id)
  same([shown.detailed_status.text, shown.coverage.to_f], ["Passed", 50.0])
  same(api.commit(project, sha).last_pipeline.id, pipeline.id)
  jobs = api.pipeline_jobs(project, pipeline.id, per_page: 1).auto_paginate
  same(jobs.map(&:name).sort, %w[build test])
  same(api.jobs(project, scope: %w[failed canceled]).size, 0)
  same(api.job(project, jobs[0].id).pipeline.id, pipeline.id)
  same(api.pipeline_bridges(project, pipeline.id).size, 0)
  same(api.pipeline_test_report(project, pipeline.id).total_count, 0)
  same(api.commit_status(project, sha).map { |status| status.pipeline_id }.uniq, [pipeline.id])
  not_allowed = Gitlab::Error::MethodNotAllowed
  refused(not_allowed, "405 Method Not Allowed") { api.retry_pipeline(project, pipeline.id) }
  refused(not_allowed, "405 Method Not Allowed") { api.job_play(project, jobs[0].id) }
  refused(FORBIDDEN, "403 Forbidden") { api.delete_pipeline(project, pipeline.id) }
  client(place, "owner").delete_pipeline(project, pipeline.id)
  same(api.pipelines(project).size, 0)
  api.create_file(project, ".gitlab-ci.yml", "main", "press: {script: press}", "Build")
  made = api.create_pipeline(project, "main", LEVEL: "high")
  same([made.source, made.status], %w[api pending])
  same(api.cancel_pipeline(project, made.id).status, "canceled")
end

def badges(place)
  api, project = a_project(place, "Medal")
  owner, group = client(place, "owner"), place["group"]["id"]
  addresses = { link_url: "https://ci.example/%{project_path}", image_url: "https://ci.example/%{default_branch}.svg" }
  above = owner.add_group_badge(group, name: "Build", **addresses)
  made = api.add_project_badge(project, name: "Cover", **addresses)
  same([made.rendered_image_url, made.kind], ["https://ci.example/main.svg", "project"])
  same(api.project_badges(project).map { |badge| [badge.name, badge.kind] }, [%w[Build group], %w[Cover project]])
  refused(BAD, "'link_url' is blocked: Only allowed schemes are http, https") { api.add_project_badge(project, **addresses, link_url: "ftp://a") }
  refused(FORBIDDEN, "403 Forbidden") { api.edit_project_badge(project, above.id, name: "Mine") }
  same(api.edit_project_badge(project, made.id, name: "Coverage").name, "Coverage")
  same(api.preview_project_badge(project, *addresses.values).rendered_image_url, "https://ci.example/main.svg")
  api.remove_project_badge(project, made.id)
  refused(NOT_FOUND, "404 Not found") { api.project_badge(project, made.id) }
  same(owner.edit_group_badge(group, above.id, name: "Builds").name, "Builds")
  same(owner.group_badges(group, "Builds").map(&:id), [above.id])
  same(owner.preview_group_badge(group, *addresses.values).image_url, addresses[:image_url])
  owner.remove_group_badge(group, above.id)
  refused(NOT_FOUND, "404 Not found") { owner.group_badge(group, above.id) }
end

def templates(place)
  api = client(place, "developer")
  same(api.gitignore_templates.auto_paginate.map(&:key).include?("Ruby"), true)
  same(api.gitignore_template("Ruby").content.include?("*.gem"), true)
  same(api.dockerfile_template(api.dockerfile_templates.first.key).content.include?("FROM"), true)
  same(api.gitlab_ci_yml_templates.size, 0)
  refused(NOT_FOUND, "404 Gitlab ci yml Not Found") { api.gitlab_ci_yml_template("Ruby") }
  same(api.license_templates(popular: true).auto_paginate.map(&:key).include?("mit"), true)
  same(api.license_template("mit", fullname: "Ada").content.include?(" Ada"), true)
  project = place["project"]["id"]
  same(api.project_templates(project, "dockerfiles").size, api.dockerfile_templates.size)
  same(api.project_template(project, "licenses", "mit", fullname: "Ada").content.include?(" Ada"), true)
end

def broadcast_messages(place)
  api = client(place, "admin")
  refused(BAD, "'color' is not a valid color") { api.create_broadcast_message("Soon", color: "reddish") }
  made = api.create_broadcast_message("Soon", target_access_levels: [30, 40], theme: "red")
  same([made.message, made.target_access_levels, made.active], ["Soon", [30, 40], true])
  same(api.edit_broadcast_message(made.id, message: "Now").message, "Now")
  same(client(place, "guest").broadcast_messages.first.message, "Now")
  refused(FORBIDDEN, "403 Forbidden") { client(place, "owner").delete_broadcast_message(made.id) }
  api.delete_broadcast_message(made.id)
  refused(NOT_FOUND, "404 Not found") { api.broadcast_message(made.id) }
end

def keys(place)
  made = client(place, "developer").create_ssh_key("Laptop", place["public_key"])
  found = client(place, "admin").key(made.id)
  same([found.title, found.user.id], ["Laptop", place["people"]["developer"]["id"]])
  refused(NOT_FOUND, "404 Not found") { client(place, "admin").key(made.id + 1_000_000) }
  refused(FORBIDDEN, "403 Forbidden") { client(place, "owner").key(made.id) }
  same(client(place, "admin").sidekiq_compound_metrics.to_h.keys.sort, %w[jobs processes queues])
end

def submodules(place)
  api, project, newer = client(place, "maintainer"), place["project"]["id"], "2" * 40
  made = api.edit_submodule(project, "libs/press", branch: "main", commit_sha: newer, commit_message: "Press on")
  same([made.title, api.tree(project, path: "libs").first.id], ["Press on", newer])
  refused(BAD, "The submodule libs/press is already at #{newer}") { api.edit_submodule(project, "libs/press", branch: "main", commit_sha: newer) }
  refused(BAD, "Invalid submodule path") { api.edit_submodule(project, "README.md", branch: "main", commit_sha: newer) }
end

def approvals(place)
  api, project = a_project(place, "Vote")
  same(api.edit_project_merge_request_approvals(project, reset_approvals_on_push: false).reset_approvals_on_push, false)
  same(api.project_merge_request_approvals(project).reset_approvals_on_push, false)
  rule = api.create_project_merge_request_approval_rule(project, name: "Two", approvals_required: 2, user_ids: [place["people"]["owner"]["id"]])
  same(rule.users.map(&:username), [place["people"]["owner"]["username"]])
  api.update_project_merge_request_approval_rule(project, rule.id, name: "One", approvals_required: 1)
  same(api.project_merge_request_approval_rules(project).map { |each| [each.name, each.approvals_required] }.include?(["One", 1]), true)
  api.delete_project_merge_request_approval_rule(project, rule.id)
end

def billable_members(place)
  owner, group = client(place, "owner"), place["group"]["id"]
  listed = owner.group_billable_members(group, sort: "name_asc", per_page: 2).auto_paginate
  same(listed.map(&:username).include?(place["people"]["developer"]["username"]), true)
  found = owner.group_billable_members(group, search: place["people"]["planner"]["username"])
  same(found.map(&:membership_type), ["group_member"])
  refused(FORBIDDEN, "403 Forbidden") { client(place, "maintainer").group_billable_members(group) }
end

$stdin.each_line do |line|
  asked = JSON.parse(line)
  problem = nil
  begin
    send(asked["story"], asked["place"])
  rescue StandardError => error
    problem = error.full_message(highlight: false)
  end
  puts JSON.generate(problem)
  $stdout.flush
end
