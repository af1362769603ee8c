// The Go client against a server: one story each time, named on the command line.
// The place comes as JSON on standard input: url, tokens and ids of people, project, group, odd_paths, public_key.
package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

type person struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	Token    string `json:"token"`
}

type place struct {
	URL     string            `json:"url"`
	People  map[string]person `json:"people"`
	Project struct {
		ID       int64  `json:"id"`
		FullPath string `json:"full_path"`
	} `json:"project"`
	Group struct {
		ID   int64  `json:"id"`
		Path string `json:"path"`
	} `json:"group"`
	OddPaths  []string `json:"odd_paths"`
	PublicKey string   `json:"public_key"`
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

// must gives what a call answered, which may not be a refusal.
func must[T any](value T, _ *gitlab.Response, err error) T {
	check(err)
	return value
}

// done is for calls that answer nothing.
func done(_ *gitlab.Response, err error) { check(err) }

func ptr[T any](value T) *T { return &value }

func same(found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		fail("%#v is not %#v", found, expected)
	}
}

// refused holds an error against the status and the text of the refusal that it must be. The client knows but one text for 404.
func refused(err error, status int, text string) {
	var refusal *gitlab.ErrorResponse
	if !errors.As(err, &refusal) {
		fail("not refused: %v", err)
	}
	same(refusal.StatusCode, status)
	if !strings.Contains(refusal.Message, text) {
		fail("%q does not say %q", refusal.Message, text)
	}
}

func (p place) as(persona string) *gitlab.Client { return p.with(p.People[persona].Token) }

func (p place) with(token string) *gitlab.Client {
	client, err := gitlab.NewClient(token, gitlab.WithBaseURL(p.URL))
	check(err)
	return client
}

func dayIn(days int) *gitlab.ISOTime {
	day := gitlab.ISOTime(time.Now().UTC().AddDate(0, 0, days).Truncate(24 * time.Hour))
	return &day
}

func (p place) newProject(name string) (*gitlab.Client, int64) {
	made := must(p.as("owner").Projects.CreateProject(&gitlab.CreateProjectOptions{
		Name: &name, NamespaceID: &p.Group.ID, InitializeWithReadme: ptr(true),
	}))
	same(made.DefaultBranch, "main")
	return p.as("maintainer"), made.ID
}

func people(p place) {
	admin := p.as("admin")
	username := fmt.Sprintf("ken-%d", p.People["admin"].ID)
	user := must(admin.Users.CreateUser(&gitlab.CreateUserOptions{
		Username: &username, Name: ptr("Ken"), Email: ptr(username + "@example.com"),
		ForceRandomPassword: ptr(true), SkipConfirmation: ptr(true),
	}))
	found := must(admin.Users.ListUsers(&gitlab.ListUsersOptions{Username: &username}))
	same([]int64{found[0].ID}, []int64{user.ID})
	done(admin.Users.BlockUser(user.ID))
	same(must(admin.Users.GetUser(user.ID, nil)).State, "blocked")
	done(admin.Users.UnblockUser(user.ID))

	made := must(admin.Users.CreatePersonalAccessToken(user.ID, &gitlab.CreatePersonalAccessTokenOptions{
		Name: ptr("laptop"), Scopes: &[]string{"api", "self_rotate"}, ExpiresAt: dayIn(30),
	}))
	same(made.ExpiresAt.String(), dayIn(30).String())
	his := p.with(made.Token)
	same(must(his.Users.CurrentUser()).ID, user.ID)
	rotated := must(his.PersonalAccessTokens.RotatePersonalAccessTokenSelf(&gitlab.RotatePersonalAccessTokenOptions{ExpiresAt: dayIn(60)}))
	_, _, err := his.Users.CurrentUser()
	refused(err, 401, "invalid_token")
	same(must(p.with(rotated.Token).PersonalAccessTokens.GetSinglePersonalAccessToken()).ID, rotated.ID)
	if parts := strings.Split(must(admin.Version.GetVersion()).Version, "."); len(parts) != 3 {
		fail("a version of %d parts", len(parts))
	}
}

func places(p place) {
	api := p.as("outsider")
	path := fmt.Sprintf("foundry-%d", p.People["outsider"].ID)
	group := must(api.Groups.CreateGroup(&gitlab.CreateGroupOptions{Name: ptr("The Foundry"), Path: &path}))
	sub := must(api.Groups.CreateGroup(&gitlab.CreateGroupOptions{Name: ptr("Iron 2.0"), Path: ptr("iron-2.0"), ParentID: &group.ID}))
	same(must(api.Groups.GetGroup(path+"/iron-2.0", nil)).ID, sub.ID)
	same(must(api.Groups.ListSubGroups(group.ID, nil))[0].FullPath, path+"/iron-2.0")
	project := must(api.Projects.CreateProject(&gitlab.CreateProjectOptions{Name: ptr("Anvil"), Path: ptr("an.vil"), NamespaceID: &sub.ID}))
	same(must(api.Projects.GetProject(path+"/iron-2.0/an.vil", nil)).ID, project.ID)
	edited := must(api.Projects.EditProject(project.ID, &gitlab.EditProjectOptions{Description: ptr("Hard")}))
	same(edited.Description, "Hard")

	members := p.as("owner").ProjectMembers
	outsider := p.People["outsider"].ID
	added := must(members.AddProjectMember(p.Project.ID, &gitlab.AddProjectMemberOptions{UserID: outsider, AccessLevel: ptr(gitlab.ReporterPermissions)}))
	same(added.AccessLevel, gitlab.ReporterPermissions)
	changed := must(members.EditProjectMember(p.Project.ID, outsider, &gitlab.EditProjectMemberOptions{AccessLevel: ptr(gitlab.DeveloperPermissions)}))
	same(changed.AccessLevel, gitlab.DeveloperPermissions)
	same(len(must(members.ListProjectMembers(p.Project.ID, nil))), 1)
	same(len(must(members.ListAllProjectMembers(p.Project.ID, nil))), 7)
	done(members.DeleteProjectMember(p.Project.ID, outsider))
	_, _, err := members.GetProjectMember(p.Project.ID, outsider)
	refused(err, 404, "Not Found")
}

func files(p place) {
	client, id := p.newProject("Papers")
	api := client.RepositoryFiles
	branch, ref := ptr("main"), ptr("main")
	for _, path := range p.OddPaths {
		created := must(api.CreateFile(id, path, &gitlab.CreateFileOptions{Branch: branch, Content: ptr("one\ntwo\n"), CommitMessage: ptr("Add")}))
		same(created.FilePath, path)
		must(api.UpdateFile(id, path, &gitlab.UpdateFileOptions{Branch: branch, Content: ptr("one\n2\n"), CommitMessage: ptr("Change")}))
		file := must(api.GetFile(id, path, &gitlab.GetFileOptions{Ref: ref}))
		content, err := base64.StdEncoding.DecodeString(file.Content)
		check(err)
		same([]string{file.FilePath, string(content)}, []string{path, "one\n2\n"})
		known := must(api.GetFileMetaData(id, path, &gitlab.GetFileMetaDataOptions{Ref: ref}))
		file.Content = ""
		same(known, file)
		same(string(must(api.GetRawFile(id, path, &gitlab.GetRawFileOptions{Ref: ref}))), "one\n2\n")
		blame := must(api.GetFileBlame(id, path, &gitlab.GetFileBlameOptions{Ref: ref}))
		same([]string{blame[0].Commit.Message, blame[1].Commit.Message}, []string{"Add", "Change"})
		done(api.DeleteFile(id, path, &gitlab.DeleteFileOptions{Branch: branch, CommitMessage: ptr("Remove")}))
		_, _, err = api.GetFile(id, path, &gitlab.GetFileOptions{Ref: ref})
		refused(err, 404, "Not Found")
	}
}

func branchesAndCommits(p place) {
	client, id := p.newProject("Oak")
	for _, name := range []string{"feature/50%+1", "release-1.0.x", "ünïcode"} {
		must(client.Branches.CreateBranch(id, &gitlab.CreateBranchOptions{Branch: &name, Ref: ptr("main")}))
		same(must(client.Branches.GetBranch(id, name)).Name, name)
		done(client.Branches.DeleteBranch(id, name))
		_, _, err := client.Branches.GetBranch(id, name)
		refused(err, 404, "Not Found")
	}
	for count := range 5 {
		path := fmt.Sprintf("%d.txt", count)
		must(client.RepositoryFiles.CreateFile(id, path, &gitlab.CreateFileOptions{Branch: ptr("main"), Content: &path, CommitMessage: &path}))
	}
	options := &gitlab.ListCommitsOptions{ListOptions: gitlab.ListOptions{PerPage: 2}}
	commits, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Commit, *gitlab.Response, error) {
		return client.Commits.ListCommits(id, options, page)
	})
	check(err)
	same(len(commits), 6)
	same(must(client.Commits.GetCommit(id, commits[0].ShortID, nil)).ParentIDs, []string{commits[1].ID})
}

func freezePeriods(p place) {
	client := p.as("maintainer")
	api, id := client.FreezePeriods, p.Project.ID
	var made []int64
	for hour := range 5 {
		start := fmt.Sprintf("0 %d * * *", hour)
		made = append(made, must(api.CreateFreezePeriodOptions(id, &gitlab.CreateFreezePeriodOptions{FreezeStart: &start, FreezeEnd: ptr("0 9 * * *")})).ID)
	}
	options := &gitlab.ListFreezePeriodsOptions{ListOptions: gitlab.ListOptions{PerPage: 2}}
	var listed []int64
	for period, err := range gitlab.Scan2(func(page gitlab.PaginationOptionFunc) ([]*gitlab.FreezePeriod, *gitlab.Response, error) {
		return api.ListFreezePeriods(id, options, page)
	}) {
		check(err)
		listed = append(listed, period.ID)
	}
	same(listed, made)
	_, response, err := api.ListFreezePeriods(id, &gitlab.ListFreezePeriodsOptions{ListOptions: gitlab.ListOptions{PerPage: 2, Page: 2}})
	check(err)
	same([]int64{response.TotalItems, response.TotalPages, response.PreviousPage, response.NextPage}, []int64{5, 3, 1, 3})
	changed := must(api.UpdateFreezePeriodOptions(id, made[0], &gitlab.UpdateFreezePeriodOptions{CronTimezone: ptr("Europe/Berlin")}))
	same([]string{changed.CronTimezone, changed.FreezeStart}, []string{"Europe/Berlin", "0 0 * * *"})
	done(api.DeleteFreezePeriod(id, made[0]))
	_, _, err = api.GetFreezePeriod(id, made[0])
	refused(err, 404, "Not Found")
	_, _, err = api.CreateFreezePeriodOptions(id, &gitlab.CreateFreezePeriodOptions{FreezeStart: ptr("at night"), FreezeEnd: ptr("0 9 * * *")})
	refused(err, 400, "{message: {freeze_start: [ is invalid syntax]}}")
}

func wikis(p place) {
	client := p.as("maintainer")
	api, id := client.Wikis, p.Project.ID
	made := must(api.CreateWikiPage(id, &gitlab.CreateWikiPageOptions{Title: ptr("fruit/All apples"), Content: ptr("**Apples**")}))
	same(*made, gitlab.Wiki{Content: "**Apples**", Encoding: "UTF-8", Format: "markdown", Slug: "fruit/All-apples", Title: "All apples"})
	listed := must(api.ListWikis(id, &gitlab.ListWikisOptions{WithContent: ptr(true)}))
	same([]string{listed[0].Slug, listed[0].Content}, []string{made.Slug, made.Content})
	html := must(api.GetWikiPage(id, made.Slug, &gitlab.GetWikiPageOptions{RenderHTML: ptr(true)}))
	same(strings.TrimSpace(html.Content), "<p><strong>Apples</strong></p>")
	changed := must(api.EditWikiPage(id, made.Slug, &gitlab.EditWikiPageOptions{Title: ptr("Apples"), Format: ptr(gitlab.WikiFormatASCIIDoc)}))
	same([]string{changed.Slug, string(changed.Format)}, []string{"fruit/Apples", "asciidoc"})
	attached := must(api.UploadWikiAttachment(id, strings.NewReader("pixels"), "tree.png", &gitlab.UploadWikiAttachmentOptions{Branch: ptr("main")}))
	same(attached.Link.Markdown, "![tree]("+attached.FilePath+")")
	done(api.DeleteWikiPage(id, changed.Slug))
	_, _, err := api.GetWikiPage(id, changed.Slug, nil)
	refused(err, 404, "Not Found")

	groups, group := client.GroupWikis, p.Group.ID
	inGroup := must(groups.CreateGroupWikiPage(group, &gitlab.CreateGroupWikiPageOptions{Title: ptr("Home"), Content: ptr("One")}))
	must(groups.EditGroupWikiPage(group, inGroup.Slug, &gitlab.EditGroupWikiPageOptions{Content: ptr("Two")}))
	same(must(groups.GetGroupWikiPage(group, "Home", nil)).Content, "Two")
	_, err = p.as("developer").GroupWikis.DeleteGroupWikiPage(group, "Home")
	refused(err, 403, "{message: 403 Forbidden}")
	done(groups.DeleteGroupWikiPage(group, "Home"))
	same(len(must(groups.ListGroupWikis(group, nil))), 0)
}

func storageMoves(p place) {
	client, options := p.as("admin"), gitlab.ListOptions{PerPage: 1}
	projects, id := client.ProjectRepositoryStorageMove, p.Project.ID
	made := must(projects.ScheduleStorageMoveForProject(id, gitlab.ScheduleStorageMoveForProjectOptions{DestinationStorageName: ptr("default")}))
	same([]string{made.State, made.SourceStorageName, made.DestinationStorageName}, []string{"scheduled", "default", "default"})
	same([]any{made.Project.ID, made.Project.PathWithNamespace}, []any{id, p.Project.FullPath})
	same(must(projects.GetStorageMove(made.ID)), made)
	same(must(projects.GetStorageMoveForProject(id, made.ID)), made)
	same(must(projects.RetrieveAllStorageMoves(gitlab.RetrieveAllProjectStorageMovesOptions{ListOptions: options}))[0], made)
	same(len(must(projects.RetrieveAllStorageMovesForProject(id, gitlab.RetrieveAllProjectStorageMovesOptions{}))), 1)
	_, _, err := projects.ScheduleStorageMoveForProject(id, gitlab.ScheduleStorageMoveForProjectOptions{DestinationStorageName: ptr("attic")})
	refused(err, 400, "is not included in the list")
	done(projects.ScheduleAllStorageMoves(gitlab.ScheduleAllProjectStorageMovesOptions{SourceStorageName: ptr("default")}))
	_, _, err = p.as("owner").ProjectRepositoryStorageMove.GetStorageMove(made.ID)
	refused(err, 403, "{message: 403 Forbidden}")

	snippet := must(client.Snippets.CreateSnippet(&gitlab.CreateSnippetOptions{
		Title: ptr("One"), Files: &[]*gitlab.CreateSnippetFileOptions{{FilePath: ptr("a"), Content: ptr("a")}},
	}))
	snippets := client.SnippetRepositoryStorageMove
	ofSnippet := must(snippets.ScheduleStorageMoveForSnippet(snippet.ID, gitlab.ScheduleStorageMoveForSnippetOptions{}))
	same([]any{ofSnippet.State, ofSnippet.Snippet.ID}, []any{"scheduled", snippet.ID})
	same(must(snippets.GetStorageMoveForSnippet(snippet.ID, ofSnippet.ID)), ofSnippet)
	done(snippets.ScheduleAllStorageMoves(gitlab.ScheduleAllSnippetStorageMovesOptions{SourceStorageName: ptr("default")}))

	groups, group := client.GroupRepositoryStorageMove, p.Group.ID
	ofGroup := must(groups.ScheduleStorageMoveForGroup(group, gitlab.ScheduleStorageMoveForGroupOptions{}))
	same([]any{ofGroup.State, ofGroup.Group.ID}, []any{"scheduled", group})
	same(must(groups.GetStorageMoveForGroup(group, ofGroup.ID)), ofGroup)
	done(groups.ScheduleAllStorageMoves(gitlab.ScheduleAllGroupStorageMovesOptions{SourceStorageName: ptr("default")}))
}

func mergeRequests(p place) {
	maintainer, id := p.newProject("Garden")
	client := p.as("developer")
	api, developer, reporter := client.MergeRequests, p.People["developer"].ID, p.People["reporter"].ID
	for _, branch := range []string{"beans", "peas"} {
		must(client.RepositoryFiles.CreateFile(id, branch+".txt", &gitlab.CreateFileOptions{
			Branch: &branch, StartBranch: ptr("main"), Content: &branch, CommitMessage: ptr("Sow " + branch),
		}))
	}
	beans := &gitlab.CreateMergeRequestOptions{
		Title: ptr("Draft: Beans"), SourceBranch: ptr("beans"), TargetBranch: ptr("main"),
		Labels: &gitlab.LabelOptions{"a", "b"}, AssigneeIDs: &[]int64{developer}, ReviewerIDs: &[]int64{reporter},
	}
	made := must(api.CreateMergeRequest(id, beans))
	same([]any{made.IID, made.State, made.Draft, []string(made.Labels)}, []any{int64(1), "opened", true, []string{"a", "b"}})
	_, _, err := api.CreateMergeRequest(id, beans)
	refused(err, 409, "Another open merge request already exists for this source branch: !1")
	peas := must(api.CreateMergeRequest(id, &gitlab.CreateMergeRequestOptions{Title: ptr("Peas"), SourceBranch: ptr("peas"), TargetBranch: ptr("main")}))

	changed := must(api.UpdateMergeRequest(id, 1, &gitlab.UpdateMergeRequestOptions{
		Title: ptr("Beans"), RemoveLabels: &gitlab.LabelOptions{"a"}, AssigneeID: ptr(int64(0)), DiscussionLocked: ptr(true),
	}))
	same([]any{changed.Draft, []string(changed.Labels), len(changed.Assignees), changed.DiscussionLocked}, []any{false, []string{"b"}, 0, true})
	found := must(api.GetMergeRequest(id, 1, nil))
	same([]string{found.DetailedMergeStatus, found.DiffRefs.HeadSha}, []string{"mergeable", found.SHA})
	same(must(api.GetMergeRequestCommits(id, 1, nil))[0].ID, found.SHA)
	same(must(api.ListMergeRequestDiffs(id, 1, nil))[0].NewPath, "beans.txt")
	version := must(api.GetMergeRequestDiffVersions(id, 1, nil))[0]
	same(must(api.GetSingleMergeRequestDiffVersion(id, 1, version.ID, nil)).Commits[0].ID, found.SHA)
	if raw := string(must(api.ShowMergeRequestRawDiffs(id, 1, nil))); !strings.Contains(raw, "\n+beans") {
		fail("the raw diff is %q", raw)
	}
	same(must(api.GetMergeRequestReviewers(id, 1))[0].User.ID, reporter)
	same(len(must(api.GetMergeRequestParticipants(id, 1))), 2)

	iidsOf := func(list []*gitlab.BasicMergeRequest) []int64 {
		iids := []int64{}
		for _, one := range list {
			iids = append(iids, one.IID)
		}
		return iids
	}
	same(iidsOf(must(api.ListProjectMergeRequests(id, &gitlab.ListProjectMergeRequestsOptions{IIDs: &[]int64{1, 2}, NotLabels: &gitlab.LabelOptions{"b"}}))), []int64{2})
	assigned := &gitlab.ListGroupMergeRequestsOptions{AssigneeID: gitlab.AssigneeID(gitlab.UserIDNone), ReviewerID: gitlab.ReviewerID(reporter)}
	same(iidsOf(must(api.ListGroupMergeRequests(p.Group.ID, assigned))), []int64{1})
	same(iidsOf(must(api.ListMergeRequests(&gitlab.ListMergeRequestsOptions{OrderBy: ptr("title"), Sort: ptr("desc")}))), []int64{2, 1})

	note := must(client.Notes.CreateMergeRequestNote(id, 1, &gitlab.CreateMergeRequestNoteOptions{Body: ptr("Deep?")}))
	same(must(client.Notes.GetMergeRequestNote(id, 1, note.ID)).Body, "Deep?")
	thread := must(client.Discussions.CreateMergeRequestDiscussion(id, 1, &gitlab.CreateMergeRequestDiscussionOptions{Body: ptr("Wide?")}))
	must(client.Discussions.AddMergeRequestDiscussionNote(id, 1, thread.ID, &gitlab.AddMergeRequestDiscussionNoteOptions{Body: ptr("Yes.")}))
	same(len(must(client.Discussions.GetMergeRequestDiscussion(id, 1, thread.ID)).Notes), 2)
	same(must(api.SetTimeEstimate(id, 1, &gitlab.SetTimeEstimateOptions{Duration: ptr("1h")})).TimeEstimate, int64(3600))
	same(must(api.UnsubscribeFromMergeRequest(id, 1)).Subscribed, false)
	same(must(api.CreateTodo(id, 1)).Target.IID, int64(1))

	_, _, err = api.AcceptMergeRequest(id, 2, nil)
	refused(err, 401, "{message: 401 Unauthorized}")
	merging := &gitlab.AcceptMergeRequestOptions{SHA: ptr(found.SHA), MergeCommitMessage: ptr("Peas at last")}
	_, _, err = maintainer.MergeRequests.AcceptMergeRequest(id, 2, merging)
	refused(err, 409, "SHA does not match HEAD of source branch: "+peas.SHA)
	merging.SHA = ptr(peas.SHA)
	same(must(maintainer.MergeRequests.AcceptMergeRequest(id, 2, merging)).MergeUser.ID, p.People["maintainer"].ID)
	done(api.RebaseMergeRequest(id, 1, nil))
	same(must(api.UpdateMergeRequest(id, 1, &gitlab.UpdateMergeRequestOptions{StateEvent: ptr("close")})).State, "closed")
	_, err = api.DeleteMergeRequest(id, 1)
	refused(err, 403, "{message: 403 Forbidden}")
	done(p.as("owner").MergeRequests.DeleteMergeRequest(id, 1))
	_, _, err = api.GetMergeRequest(id, 1, nil)
	refused(err, 404, "Not Found")
}

func clusters(p place) {
	api := p.as("admin").InstanceCluster
	options := &gitlab.AddClusterOptions{
		Name: ptr("Orchard"), Domain: ptr("apps.example.com"), Managed: ptr(false), ManagementProjectID: ptr(fmt.Sprint(p.Project.ID)),
		PlatformKubernetes: &gitlab.AddPlatformKubernetesOptions{APIURL: ptr("https://kube.example.com"), Token: ptr("secret"), Namespace: ptr("orchard")},
	}
	added := must(api.AddCluster(options))
	same([]string{added.Name, added.Domain, added.EnvironmentScope, added.ClusterType}, []string{"Orchard", "apps.example.com", "*", "instance_type"})
	same([]int64{added.User.ID, added.ManagementProject.ID}, []int64{p.People["admin"].ID, p.Project.ID})
	same(*added.PlatformKubernetes, gitlab.PlatformKubernetes{APIURL: "https://kube.example.com", Namespace: "orchard", AuthorizationType: "rbac"})
	_, _, err := api.AddCluster(options)
	refused(err, 400, "{message: {environment_scope: [cannot add duplicated environment scope]}}")

	local := &gitlab.EditPlatformKubernetesOptions{APIURL: ptr("https://127.0.0.1")}
	_, _, err = api.EditCluster(added.ID, &gitlab.EditClusterOptions{Name: ptr("Meadow"), PlatformKubernetes: local})
	refused(err, 400, "is blocked: Requests to localhost are not allowed")
	same(must(api.GetCluster(added.ID)).Name, "Orchard")
	same(must(api.EditCluster(added.ID, &gitlab.EditClusterOptions{Name: ptr("Meadow")})).Name, "Meadow")
	same(must(api.ListClusters())[0].Name, "Meadow")
	_, _, err = p.as("owner").InstanceCluster.ListClusters()
	refused(err, 403, "{message: 403 Forbidden}")
	done(api.DeleteCluster(added.ID))
	_, _, err = api.GetCluster(added.ID)
	refused(err, 404, "Not Found")
}

func keysetSudoAndRefusals(p place) {
	client := p.as("maintainer")
	expected := []int64{p.Project.ID}
	for count := range 4 {
		name := fmt.Sprintf("Project %d", count)
		expected = append(expected, must(client.Projects.CreateProject(&gitlab.CreateProjectOptions{Name: &name})).ID)
	}
	options := &gitlab.ListProjectsOptions{
		ListOptions: gitlab.ListOptions{Pagination: "keyset", PerPage: 2}, OrderBy: ptr("id"), Sort: ptr("asc"), Membership: ptr(true),
	}
	projects, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Project, *gitlab.Response, error) {
		return client.Projects.ListProjects(options, page)
	})
	check(err)
	var found []int64
	for _, project := range projects {
		found = append(found, project.ID)
	}
	same(found, expected)

	developer := p.People["developer"]
	same(must(p.as("admin").Users.CurrentUser(gitlab.WithSudo(developer.Username))).ID, developer.ID)
	_, _, err = client.Users.CurrentUser(gitlab.WithSudo(developer.ID))
	refused(err, 403, "{message: 403 Forbidden - Must be admin to use sudo}")
	_, _, err = p.as("guest").Commits.ListCommits(p.Project.ID, nil)
	refused(err, 403, "{message: 403 Forbidden}")
	_, _, err = p.with("glpat-nobody-has-this").Projects.GetProject(p.Project.ID, nil)
	refused(err, 401, "{message: 401 Unauthorized}")
	_, _, err = p.as("outsider").Projects.GetProject(p.Project.FullPath, nil)
	refused(err, 404, "Not Found")
}

func farPages(p place) {
	client := p.as("planner")
	options := &gitlab.ListProjectIssuesOptions{ListOptions: gitlab.ListOptions{PerPage: 90}, OrderBy: ptr("title")}
	found := map[int64]bool{}
	for {
		issues, response, err := client.Issues.ListProjectIssues(p.Project.ID, options)
		check(err)
		for _, issue := range issues {
			found[issue.IID] = true
		}
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	same(len(found), 1300)
}

func relationExports(p place) {
	exports, group := p.as("owner").GroupRelationsExport, p.Group.ID
	done(exports.ScheduleExport(group, &gitlab.GroupRelationsScheduleExportOptions{Batched: ptr(false)}))
	labels := must(exports.ListExportStatus(group, &gitlab.ListGroupRelationsStatusOptions{Relation: ptr("labels")}))
	same(len(labels), 1)
	same([]any{labels[0].Relation, labels[0].Status, labels[0].Error, labels[0].Batched}, []any{"labels", int64(1), "", false})
	same(must(exports.ListExportStatus(group, nil))[0].UpdatedAt.IsZero(), false)
	file := must(exports.ExportDownload(group, &gitlab.GroupRelationsDownloadOptions{Relation: ptr("labels")}))
	unzipped, err := gzip.NewReader(file)
	check(err)
	var label struct{ Title string }
	check(json.NewDecoder(unzipped).Decode(&label))
	same(label.Title, "ripe")
	_, _, err = exports.ExportDownload(group, &gitlab.GroupRelationsDownloadOptions{Relation: ptr("labels"), Batched: ptr(true), BatchNumber: ptr(int64(1))})
	refused(err, 400, "{message: Export is not batched}")
}

func migrations(p place) {
	imports, slug := p.as("owner").BulkImports, p.Group.Path+"-copy"
	options := gitlab.BulkImportStartMigrationOptions{
		Configuration: &gitlab.BulkImportStartMigrationConfiguration{URL: &p.URL, AccessToken: ptr(p.People["owner"].Token)},
		Entities: []gitlab.BulkImportStartMigrationEntity{{
			SourceType: ptr("group_entity"), SourceFullPath: &p.Group.Path, DestinationSlug: &slug, DestinationNamespace: ptr(""),
		}},
	}
	begun := must(imports.StartMigration(&options))
	same([]string{begun.Status, begun.SourceType, begun.SourceURL}, []string{"created", "gitlab", p.URL})
	same(must(imports.GetBulkImport(begun.ID)).ID, begun.ID)
	same(len(must(imports.ListBulkImports(&gitlab.ListBulkImportsOptions{Status: ptr("created")}))), 1)
	entities := must(imports.ListBulkImportsEntitiesByID(begun.ID, nil))
	same(entities, must(imports.ListBulkImportsEntities(nil)))
	same(entities[0], must(imports.GetBulkImportEntity(begun.ID, entities[0].ID)))
	same([]string{entities[0].SourceFullPath, entities[0].DestinationSlug}, []string{p.Group.Path, slug})
	same(len(must(imports.GetBulkImportEntityFailures(begun.ID, entities[0].ID))), 0)
	same(must(imports.CancelBulkImport(begun.ID)).Status, "canceled")
	_, _, err := imports.CancelBulkImport(begun.ID)
	refused(err, 400, "The migration has already ended.")
	options.Entities[0].SourceFullPath = ptr("nowhere")
	_, _, err = imports.StartMigration(&options)
	refused(err, 422, "Import failed. 'nowhere' not found.")
}

func geoSites(p place) {
	sites := p.as("admin").GeoSites
	own := must(sites.CreateGeoSite(&gitlab.CreateGeoSitesOptions{Name: &p.URL, URL: &p.URL, Primary: ptr(true)}))
	same([]any{own.URL, own.Primary, own.Current, own.ReposMaxCapacity}, []any{p.URL + "/", true, true, int64(25)})
	site := must(sites.CreateGeoSite(&gitlab.CreateGeoSitesOptions{
		Name: ptr("Lisbon"), URL: ptr("https://lisbon.example.com"), SelectiveSyncType: ptr("shards"), SelectiveSyncShards: &[]string{"default"},
	}))
	same(must(sites.GetGeoSite(site.ID)), site)
	same(must(sites.ListGeoSites(&gitlab.ListGeoSitesOptions{ListOptions: gitlab.ListOptions{PerPage: 1, Page: 2}})), []*gitlab.GeoSite{site})
	changed := must(sites.EditGeoSite(site.ID, &gitlab.EditGeoSiteOptions{FilesMaxCapacity: ptr(int64(0)), SelectiveSyncShards: &[]string{}}))
	same([]any{changed.FilesMaxCapacity, changed.SelectiveSyncShards}, []any{int64(0), []string{}})
	status := must(sites.GetStatusOfGeoSite(own.ID))
	same([]any{status.GeoNodeID, status.Healthy, status.HealthStatus}, []any{own.ID, false, "Unhealthy"})
	same([]any{status.ProjectsCount > 0, status.StorageShardsMatch, status.Links.Site}, []any{true, true, own.Links.Self})
	same(len(must(sites.ListStatusOfAllGeoSites(nil))), 1)
	_, _, err := sites.GetStatusOfGeoSite(site.ID)
	refused(err, 404, "Not Found")
	must(sites.RepairGeoSite(site.ID))
	_, err = sites.DeleteGeoSite(own.ID)
	refused(err, 400, "{message: The primary cannot be removed while it has secondaries.}")
	done(sites.DeleteGeoSite(site.ID))
	_, _, err = sites.GetGeoSite(site.ID)
	refused(err, 404, "Not Found")
}

func main() {
	stories := map[string]func(place){
		"people": people, "places": places, "files": files, "branches_and_commits": branchesAndCommits,
		"freeze_periods": freezePeriods, "merge_requests": mergeRequests, "wikis": wikis, "storage_moves": storageMoves,
		"relation_exports": relationExports, "migrations": migrations, "geo_sites": geoSites, "clusters": clusters,
		"keyset_sudo_and_refusals": keysetSudoAndRefusals, "far_pages": farPages,
		"applications": applications, "boards": boards, "search": search, "releases": releases, "environments": environments,
		"protected_environments": protectedEnvironments, "pipelines": pipelines, "running": running, "feature_flags": featureFlags,
		"mirrors": mirrors, "audit_events": auditEvents, "group_links": groupLinks, "badges": badges, "templates": templates, "custom_attributes": customAttributes,
		"instance": instance, "repository_tools": repositoryTools, "group_rules": groupRules, "dependencies": dependencies,
	}
	var p place
	check(json.NewDecoder(os.Stdin).Decode(&p))
	stories[os.Args[1]](p)
}
