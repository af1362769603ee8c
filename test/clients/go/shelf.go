package main

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

func badges(p place) {
	client, id := p.newProject("Medal")
	api := client.ProjectBadges
	groups, group := p.as("owner").GroupBadges, p.Group.ID
	link, image := ptr("https://ci.example/%{project_path}"), ptr("https://ci.example/%{default_branch}.svg")
	above := must(groups.AddGroupBadge(group, &gitlab.AddGroupBadgeOptions{Name: ptr("Build"), LinkURL: link, ImageURL: image}))
	made := must(api.AddProjectBadge(id, &gitlab.AddProjectBadgeOptions{Name: ptr("Cover"), LinkURL: link, ImageURL: image}))
	same([]string{made.RenderedImageURL, made.Kind}, []string{"https://ci.example/main.svg", "project"})
	same(namesOf(must(api.ListProjectBadges(id, nil)), func(badge *gitlab.ProjectBadge) string { return badge.Kind }), []string{"group", "project"})
	_, _, err := api.AddProjectBadge(id, &gitlab.AddProjectBadgeOptions{LinkURL: ptr("ftp://a"), ImageURL: image})
	refused(err, 400, "{message: {link_url: [is blocked: Only allowed schemes are http, https]}}")
	_, err = api.DeleteProjectBadge(id, above.ID)
	refused(err, 403, "To delete a Group badge please use the Group endpoint")
	same(must(api.EditProjectBadge(id, made.ID, &gitlab.EditProjectBadgeOptions{Name: ptr("Coverage")})).Name, "Coverage")
	same(must(api.PreviewProjectBadge(id, &gitlab.ProjectBadgePreviewOptions{LinkURL: link, ImageURL: image})).RenderedImageURL, made.RenderedImageURL)
	done(api.DeleteProjectBadge(id, made.ID))
	_, _, err = api.GetProjectBadge(id, made.ID)
	refused(err, 404, "Not Found")
	must(groups.EditGroupBadge(group, above.ID, &gitlab.EditGroupBadgeOptions{Name: ptr("Builds")}))
	same(must(groups.ListGroupBadges(group, &gitlab.ListGroupBadgesOptions{Name: ptr("Builds")}))[0].ID, above.ID)
	same(must(groups.PreviewGroupBadge(group, &gitlab.GroupBadgePreviewOptions{LinkURL: link, ImageURL: image})).LinkURL, *link)
	done(groups.DeleteGroupBadge(group, above.ID))
	_, _, err = groups.GetGroupBadge(group, above.ID)
	refused(err, 404, "Not Found")
}

func templates(p place) {
	api := p.as("developer")
	ignored, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.GitIgnoreTemplateListItem, *gitlab.Response, error) {
		return api.GitIgnoreTemplates.ListTemplates(&gitlab.ListTemplatesOptions{ListOptions: gitlab.ListOptions{PerPage: 100}}, page)
	})
	check(err)
	same(len(ignored) > 100, true)
	same(strings.Contains(must(api.GitIgnoreTemplates.GetTemplate("Go")).Content, "*.test"), true)
	same(must(api.DockerfileTemplate.GetTemplate(must(api.DockerfileTemplate.ListTemplates(nil))[0].Key)).Content != "", true)
	same(len(must(api.CIYMLTemplate.ListAllTemplates(nil))), 0)
	_, _, err = api.CIYMLTemplate.GetTemplate("Go")
	refused(err, 404, "Not Found")
	same(must(api.LicenseTemplates.ListLicenseTemplates(&gitlab.ListLicenseTemplatesOptions{Popular: ptr(true)}))[0].Featured, true)
	license := must(api.LicenseTemplates.GetLicenseTemplate("mit", &gitlab.GetLicenseTemplateOptions{Fullname: ptr("Ada")}))
	same([]any{license.Key, strings.Contains(license.Content, " Ada\n")}, []any{"mit", true})
	same(len(must(api.ProjectTemplates.ListTemplates(p.Project.ID, "issues", nil))), 0)
	same(must(api.ProjectTemplates.GetProjectTemplate(p.Project.ID, "licenses", "mit")).Key, "mit")
}

func customAttributes(p place) {
	api, user := p.as("admin").CustomAttribute, p.People["guest"].ID
	clay, loam := gitlab.CustomAttribute{Key: "soil", Value: "clay"}, gitlab.CustomAttribute{Key: "soil", Value: "loam"}
	same(*must(api.SetCustomUserAttribute(user, clay)), clay)
	must(api.SetCustomUserAttribute(user, loam))
	same(must(api.GetCustomUserAttribute(user, "soil")).Value, "loam")
	must(api.SetCustomGroupAttribute(p.Group.ID, clay))
	must(api.SetCustomProjectAttribute(p.Project.ID, clay))
	same(*must(api.ListCustomProjectAttributes(p.Project.ID))[0], clay)
	same(*must(api.ListCustomGroupAttributes(p.Group.ID))[0], clay)
	_, _, err := p.as("owner").CustomAttribute.SetCustomGroupAttribute(p.Group.ID, loam)
	refused(err, 403, "{message: 403 Forbidden}")
	done(api.DeleteCustomUserAttribute(user, "soil"))
	_, err = api.DeleteCustomUserAttribute(user, "soil")
	refused(err, 404, "Not Found")
	same(len(must(api.ListCustomUserAttributes(user))), 0)
	one := must(p.as("owner").Projects.ListProjects(&gitlab.ListProjectsOptions{WithCustomAttributes: ptr(true), Membership: ptr(true)}))[0]
	same(len(one.CustomAttributes), 0)
	one = must(p.as("admin").Projects.ListProjects(&gitlab.ListProjectsOptions{WithCustomAttributes: ptr(true), Search: &one.Path}))[0]
	same(*one.CustomAttributes[0], clay)
}

func instance(p place) {
	admin := p.as("admin")
	messages := admin.BroadcastMessage
	_, _, err := messages.CreateBroadcastMessage(&gitlab.CreateBroadcastMessageOptions{Message: ptr("Soon"), Font: ptr("large")})
	refused(err, 400, "{message: {font: [is not a valid color]}}")
	levels := []gitlab.AccessLevelValue{gitlab.DeveloperPermissions, gitlab.MaintainerPermissions}
	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	message := must(messages.CreateBroadcastMessage(&gitlab.CreateBroadcastMessageOptions{Message: ptr("Soon"), EndsAt: &ends, TargetAccessLevels: levels, Theme: ptr("red")}))
	same([]any{message.Active, message.TargetAccessLevels, message.EndsAt.UTC(), message.Theme}, []any{true, levels, ends, "red"})
	must(messages.UpdateBroadcastMessage(message.ID, &gitlab.UpdateBroadcastMessageOptions{Message: ptr("Now")}))
	same(must(p.as("guest").BroadcastMessage.ListBroadcastMessages(nil))[0].Message, "Now")
	done(messages.DeleteBroadcastMessage(message.ID))
	_, _, err = messages.GetBroadcastMessage(message.ID)
	refused(err, 404, "Not Found")

	changed := must(admin.Appearance.ChangeAppearance(&gitlab.ChangeAppearanceOptions{Title: ptr("Orchard"), HeaderMessage: ptr("Ripe"), MessageBackgroundColor: ptr("#e75e40")}))
	same([]string{changed.Title, changed.HeaderMessage, changed.MessageBackgroundColor}, []string{"Orchard", "Ripe", "#e75e40"})
	same(must(admin.Appearance.GetAppearance()).Title, "Orchard")
	same(must(admin.PlanLimits.ChangePlanLimits(&gitlab.ChangePlanLimitOptions{PlanName: ptr("default"), MavenMaxFileSize: ptr(int64(5))})).MavenMaxFileSize, int64(5))
	_, _, err = admin.PlanLimits.ChangePlanLimits(&gitlab.ChangePlanLimitOptions{PlanName: ptr("default"), MavenMaxFileSize: ptr(int64(-1))})
	refused(err, 400, "must be greater than or equal to 0")
	same(must(admin.PlanLimits.GetCurrentPlanLimits(nil)).MavenMaxFileSize, int64(5))
	_, _, err = p.as("owner").PlanLimits.GetCurrentPlanLimits(nil)
	refused(err, 403, "{message: 403 Forbidden}")
	same(must(admin.Sidekiq.GetCompoundMetrics()).Jobs.Enqueued >= 0, true)
	_, _, err = p.as("owner").Sidekiq.GetJobStats()
	refused(err, 403, "{message: 403 Forbidden}")

	key := must(p.as("developer").Users.AddSSHKey(&gitlab.AddSSHKeyOptions{Title: ptr("Laptop"), Key: &p.PublicKey}))
	found := must(admin.Keys.GetKeyWithUser(key.ID))
	same([]any{found.Title, found.User.ID}, []any{"Laptop", p.People["developer"].ID})
	same(must(admin.Keys.GetKeyByFingerprint(&gitlab.GetKeyByFingerprintOptions{Fingerprint: fingerprintOf(p.PublicKey)})).ID, key.ID)
	_, _, err = admin.Keys.GetKeyByFingerprint(&gitlab.GetKeyByFingerprintOptions{Fingerprint: "SHA256:nothing"})
	refused(err, 400, "{message: Failed to return the key}")
}

// fingerprintOf gives what ssh-keygen -l shows of a public key.
func fingerprintOf(key string) string {
	bytes, err := base64.StdEncoding.DecodeString(strings.Fields(key)[1])
	check(err)
	digest := sha256.Sum256(bytes)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(digest[:])
}

func repositoryTools(p place) {
	client, id := p.as("maintainer"), p.Project.ID
	newer := strings.Repeat("2", 40)
	update := &gitlab.UpdateSubmoduleOptions{Branch: ptr("main"), CommitSHA: &newer, CommitMessage: ptr("Press on\n\nChangelog: changed")}
	commit := must(client.RepositorySubmodules.UpdateSubmodule(id, "libs/press", update))
	same([]any{commit.Title, len(commit.ParentIDs)}, []any{"Press on", 1})
	_, _, err := client.RepositorySubmodules.UpdateSubmodule(id, "libs/press", update)
	refused(err, 400, "{message: The submodule libs/press is already at "+newer+"}")

	_, _, err = client.Repositories.GenerateChangelogData(id, gitlab.GenerateChangelogDataOptions{Version: ptr("1.0.0")})
	refused(err, 422, "Failed to generate the changelog: The commit start range is unspecified")
	must(client.Tags.CreateTag(id, &gitlab.CreateTagOptions{TagName: ptr("v0.9.0"), Ref: &commit.ParentIDs[0]}))
	notes := must(client.Repositories.GenerateChangelogData(id, gitlab.GenerateChangelogDataOptions{Version: ptr("1.0.0"), Date: dayIn(0)})).Notes
	same(strings.HasPrefix(notes, "## 1.0.0 ("+dayIn(0).String()+")\n\n### changed (1 change)\n\n- [Press on]("), true)
	done(client.Repositories.AddChangelog(id, &gitlab.AddChangelogOptions{Version: ptr("1.0.0"), Branch: ptr("main"), Date: dayIn(0)}))
	same(string(must(client.RepositoryFiles.GetRawFile(id, "CHANGELOG.md", nil))), notes)
	same(must(client.ProjectStatistics.Last30DaysStatistics(id)).Fetches.Total, int64(0))
	_, _, err = p.as("guest").ProjectStatistics.Last30DaysStatistics(id)
	refused(err, 403, "{message: 403 Forbidden}")
}

func groupRules(p place) {
	owner, group := p.as("owner"), p.Group.ID
	branches := owner.GroupProtectedBranches
	made := must(branches.ProtectRepositoryBranches(group, &gitlab.ProtectGroupRepositoryBranchesOptions{Name: ptr("release/*"), PushAccessLevel: ptr(gitlab.MaintainerPermissions)}))
	same([]any{made.Name, made.PushAccessLevels[0].AccessLevel, made.AllowForcePush}, []any{"release/*", gitlab.MaintainerPermissions, false})
	_, _, err := branches.ProtectRepositoryBranches(group, &gitlab.ProtectGroupRepositoryBranchesOptions{Name: ptr("release/*")})
	refused(err, 409, "Protected branch 'release/*' already exists")
	same(must(branches.UpdateProtectedBranch(group, "release/*", &gitlab.UpdateGroupProtectedBranchOptions{AllowForcePush: ptr(true)})).AllowForcePush, true)
	same(must(branches.GetProtectedBranch(group, "release/*")).ID, made.ID)
	_, err = p.as("maintainer").ProtectedBranches.UnprotectRepositoryBranches(p.Project.ID, "release/*")
	refused(err, 403, "403 Forbidden")
	done(branches.UnprotectRepositoryBranches(group, "release/*"))
	same(len(must(branches.ListProtectedBranches(group, nil))), 0)

	settings := owner.MergeRequestApprovalSettings
	changed := must(settings.UpdateGroupMergeRequestApprovalSettings(group, &gitlab.UpdateGroupMergeRequestApprovalSettingsOptions{AllowAuthorApproval: ptr(false)}))
	same(changed.AllowAuthorApproval, gitlab.MergeRequestApprovalSetting{Value: false})
	below := must(settings.GetProjectMergeRequestApprovalSettings(p.Project.ID))
	same(below.AllowAuthorApproval, gitlab.MergeRequestApprovalSetting{Value: false, Locked: true, InheritedFrom: "group"})
	_, _, err = settings.UpdateProjectMergeRequestApprovalSettings(p.Project.ID, &gitlab.UpdateProjectMergeRequestApprovalSettingsOptions{AllowAuthorApproval: ptr(true)})
	refused(err, 400, "{message: {allow_author_approval: [cannot be changed]}}")
	must(settings.UpdateGroupMergeRequestApprovalSettings(group, &gitlab.UpdateGroupMergeRequestApprovalSettingsOptions{AllowAuthorApproval: ptr(true)}))
	same(must(settings.GetGroupMergeRequestApprovalSettings(group)).AllowAuthorApproval.Value, true)

	members := must(owner.Groups.ListBillableGroupMembers(group, &gitlab.ListBillableGroupMembersOptions{Search: ptr(p.People["planner"].Username)}))
	same([]any{members[0].ID, members[0].MembershipType, members[0].Removable}, []any{p.People["planner"].ID, "group_member", true})
	same(must(owner.Groups.ListMembershipsForBillableGroupMember(group, members[0].ID, nil))[0].SourceID, group)
	done(owner.Groups.RemoveBillableGroupMember(group, members[0].ID))
	_, err = owner.Groups.RemoveBillableGroupMember(group, members[0].ID)
	refused(err, 404, "Not Found")
}

func dependencies(p place) {
	_, id := p.newProject("Knot")
	client := p.as("developer")
	api := client.MergeRequests
	var made []*gitlab.MergeRequest
	for _, branch := range []string{"first", "second"} {
		must(client.RepositoryFiles.CreateFile(id, branch+".txt", &gitlab.CreateFileOptions{
			Branch: &branch, StartBranch: ptr("main"), Content: &branch, CommitMessage: &branch,
		}))
		made = append(made, must(api.CreateMergeRequest(id, &gitlab.CreateMergeRequestOptions{Title: &branch, SourceBranch: &branch, TargetBranch: ptr("main")})))
	}
	block := must(api.CreateMergeRequestDependency(id, made[1].IID, gitlab.CreateMergeRequestDependencyOptions{BlockingMergeRequestID: &made[0].ID}))
	same(block.BlockingMergeRequest.Title, "first")
	_, _, err := api.CreateMergeRequestDependency(id, made[1].IID, gitlab.CreateMergeRequestDependencyOptions{BlockingMergeRequestID: &made[0].ID})
	refused(err, 409, "{message: Block already exists}")
	same(must(api.GetMergeRequest(id, made[1].IID, nil)).DetailedMergeStatus, "merge_request_blocked")
	same(must(api.GetMergeRequestDependencies(id, made[1].IID))[0].ID, block.ID)
	done(api.DeleteMergeRequestDependency(id, made[1].IID, block.ID))
	same(len(must(api.GetMergeRequestDependencies(id, made[1].IID))), 0)
}

func auditEvents(p place) {
	api := p.as("maintainer")
	for _, name := range []string{"one", "two", "three"} {
		must(api.ProtectedBranches.ProtectRepositoryBranches(p.Project.ID, &gitlab.ProtectRepositoryBranchesOptions{Name: ptr(name)}))
	}
	listed := must(api.AuditEvents.ListProjectAuditEvents(p.Project.ID, &gitlab.ListAuditEventsOptions{ListOptions: gitlab.ListOptions{PerPage: 3}}))
	same(namesOf(listed, func(event *gitlab.AuditEvent) string { return event.Details.TargetDetails }), []string{"three", "two", "one"})
	found := must(api.AuditEvents.GetProjectAuditEvent(p.Project.ID, listed[0].ID))
	same([]string{found.EventName, found.Details.Add, found.Details.AuthorClass}, []string{"protected_branch_created", "protected_branch", "User"})
	same(must(p.as("admin").AuditEvents.GetInstanceAuditEvent(found.ID)).EntityID, p.Project.ID)
	since := time.Now().Add(time.Hour)
	same(len(must(p.as("admin").AuditEvents.ListInstanceAuditEvents(&gitlab.ListAuditEventsOptions{CreatedAfter: &since}))), 0)
	_, _, err := p.as("owner").AuditEvents.GetGroupAuditEvent(p.Group.ID, found.ID)
	refused(err, 404, "Not Found")
}
