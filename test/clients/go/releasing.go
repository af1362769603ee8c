package main

import (
	"fmt"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

func releases(p place) {
	client, id := p.newProject("Larch")
	api, links := client.Releases, client.ReleaseLinks
	_, _, err := api.CreateRelease(id, &gitlab.CreateReleaseOptions{TagName: ptr("v1/0")})
	refused(err, 422, "{message: Ref is not specified}")
	must(client.Milestones.CreateMilestone(id, &gitlab.CreateMilestoneOptions{Title: ptr("Autumn")}))
	made := must(api.CreateRelease(id, &gitlab.CreateReleaseOptions{
		TagName: ptr("v1/0"), Ref: ptr("main"), Name: ptr("First"), Description: ptr("Notes"), Milestones: &[]string{"Autumn"},
		Assets: &gitlab.ReleaseAssetsOptions{Links: []*gitlab.ReleaseAssetLinkOptions{
			{Name: ptr("Packet"), URL: ptr("https://files.example/packet"), DirectAssetPath: ptr("/packet"), LinkType: ptr(gitlab.PackageLinkType)},
		}},
	}))
	same([]any{made.TagName, made.Name, made.Assets.Count, made.Milestones[0].Title}, []any{"v1/0", "First", int64(5), "Autumn"})
	same([]any{made.UpcomingRelease, len(made.Evidences), made.Assets.Links[0].LinkType}, []any{false, 1, gitlab.PackageLinkType})
	_, _, err = api.CreateRelease(id, &gitlab.CreateReleaseOptions{TagName: ptr("v1/0")})
	refused(err, 409, "{message: Release already exists}")
	later := time.Now().Add(48 * time.Hour)
	must(api.CreateRelease(id, &gitlab.CreateReleaseOptions{TagName: ptr("v2"), Ref: ptr("main"), ReleasedAt: &later}))
	same(must(api.GetLatestRelease(id)).TagName, "v1/0")
	same(must(api.UpdateRelease(id, "v1/0", &gitlab.UpdateReleaseOptions{Description: ptr("*More*"), Milestones: &[]string{}})).Milestones, []*gitlab.ReleaseMilestone(nil))

	manual := must(links.CreateReleaseLink(id, "v1/0", &gitlab.CreateReleaseLinkOptions{Name: ptr("Manual"), URL: ptr("https://files.example/manual")}))
	_, _, err = links.CreateReleaseLink(id, "v1/0", &gitlab.CreateReleaseLinkOptions{Name: ptr("Manual"), URL: ptr("https://files.example/other")})
	refused(err, 400, "{message: [Name has already been taken]}")
	must(links.UpdateReleaseLink(id, "v1/0", manual.ID, &gitlab.UpdateReleaseLinkOptions{Name: ptr("Handbook"), LinkType: ptr(gitlab.RunbookLinkType)}))
	same(must(links.GetReleaseLink(id, "v1/0", manual.ID)).Name, "Handbook")
	nameOfLink := func(link *gitlab.ReleaseLink) string { return link.Name }
	same(namesOf(must(links.ListReleaseLinks(id, "v1/0", nil)), nameOfLink), []string{"Handbook", "Packet"})
	must(links.DeleteReleaseLink(id, "v1/0", manual.ID))
	shown := must(api.GetRelease(id, "v1/0"))
	same([]any{namesOf(shown.Assets.Links, nameOfLink), shown.Description}, []any{[]string{"Packet"}, "*More*"})

	tag := func(release *gitlab.Release) string { return release.TagName }
	all, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Release, *gitlab.Response, error) {
		return api.ListReleases(id, &gitlab.ListReleasesOptions{ListOptions: gitlab.ListOptions{PerPage: 1}, Sort: ptr("asc"), IncludeHTMLDescription: ptr(true)}, page)
	})
	check(err)
	same([]any{namesOf(all, tag), all[0].DescriptionHTML != ""}, []any{[]string{"v1/0", "v2"}, true})
	same(namesOf(must(client.GroupReleases.ListGroupReleases(p.Group.ID, &gitlab.ListGroupReleasesOptions{Simple: ptr(true)})), tag), []string{"v2", "v1/0"})
	_, _, err = p.as("reporter").Releases.DeleteRelease(id, "v2")
	refused(err, 403, "{message: 403 Forbidden}")
	same(must(api.DeleteRelease(id, "v1/0")).TagName, "v1/0")
	_, _, err = api.GetRelease(id, "v1/0")
	refused(err, 404, "Not Found")
	same(must(client.Tags.GetTag(id, "v1/0")).Release, (*gitlab.ReleaseNote)(nil))
	done(client.Tags.DeleteTag(id, "v2"))
	same(len(must(api.ListReleases(id, nil))), 0)
}

func environments(p place) {
	client, id := p.newProject("Slope")
	api, deployments := client.Environments, client.Deployments
	staging := must(api.CreateEnvironment(id, &gitlab.CreateEnvironmentOptions{Name: ptr("staging"), ExternalURL: ptr("https://a.example")}))
	same([]string{staging.Slug, staging.Tier, staging.State}, []string{"staging", "staging", "available"})
	_, _, err := api.CreateEnvironment(id, &gitlab.CreateEnvironmentOptions{Name: ptr("staging")})
	refused(err, 400, "{message: {name: [has already been taken]}}")
	same(must(api.EditEnvironment(id, staging.ID, &gitlab.EditEnvironmentOptions{Description: ptr("Soft"), Tier: ptr("testing")})).Tier, "testing")
	sha := must(client.Commits.GetCommit(id, "main", nil)).ID
	record := &gitlab.CreateProjectDeploymentOptions{
		Environment: ptr("production"), Ref: ptr("main"), SHA: &sha, Tag: ptr(false), Status: ptr(gitlab.DeploymentStatusRunning),
	}
	made := must(deployments.CreateProjectDeployment(id, record))
	same([]any{made.Environment.Name, made.SHA, made.Status}, []any{"production", sha, "running"})
	_, err = deployments.DeleteProjectDeployment(id, made.ID)
	refused(err, 400, "{message: Cannot destroy running deployment}")
	succeed := &gitlab.UpdateProjectDeploymentOptions{Status: ptr(gitlab.DeploymentStatusSuccess)}
	must(deployments.UpdateProjectDeployment(id, made.ID, succeed))
	_, _, err = deployments.UpdateProjectDeployment(id, made.ID, succeed)
	refused(err, 400, `{message: {status: [cannot transition via "succeed"]}}`)
	same(must(deployments.ListProjectDeployments(id, &gitlab.ListProjectDeploymentsOptions{Environment: ptr("production"), OrderBy: ptr("updated_at")}))[0].Status, "success")
	same(len(must(client.DeploymentMergeRequests.ListDeploymentMergeRequests(id, made.ID, nil))), 0)
	same(must(api.GetEnvironment(id, made.Environment.ID)).LastDeployment.ID, made.ID)
	all, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Environment, *gitlab.Response, error) {
		return api.ListEnvironments(id, &gitlab.ListEnvironmentsOptions{ListOptions: gitlab.ListOptions{PerPage: 1}}, page)
	})
	check(err)
	same(namesOf(all, func(one *gitlab.Environment) string { return one.Name }), []string{"production", "staging"})
	_, err = api.DeleteEnvironment(id, staging.ID)
	refused(err, 403, "{message: 403 Forbidden}")
	same(must(api.StopEnvironment(id, staging.ID, &gitlab.StopEnvironmentOptions{Force: ptr(true)})).State, "stopped")
	done(api.DeleteEnvironment(id, staging.ID))
	_, _, err = api.GetEnvironment(id, staging.ID)
	refused(err, 404, "Not Found")
}

func protectedEnvironments(p place) {
	client, id := p.newProject("Gate")
	api, maintainers := client.ProtectedEnvironments, ptr(gitlab.MaintainerPermissions)
	protect := &gitlab.ProtectRepositoryEnvironmentsOptions{
		Name:               ptr("production"),
		DeployAccessLevels: &[]*gitlab.EnvironmentAccessOptions{{AccessLevel: maintainers}},
		ApprovalRules:      &[]*gitlab.EnvironmentApprovalRuleOptions{{AccessLevel: maintainers, RequiredApprovalCount: ptr(int64(1))}},
	}
	made := must(api.ProtectRepositoryEnvironments(id, protect))
	same([]any{made.Name, made.DeployAccessLevels[0].AccessLevel, made.ApprovalRules[0].RequiredApprovalCount}, []any{"production", gitlab.MaintainerPermissions, int64(1)})
	_, _, err := api.ProtectRepositoryEnvironments(id, protect)
	refused(err, 409, "Environment 'production' is already protected")
	sha := must(client.Commits.GetCommit(id, "main", nil)).ID
	record := &gitlab.CreateProjectDeploymentOptions{
		Environment: ptr("production"), Ref: ptr("main"), SHA: &sha, Tag: ptr(false), Status: ptr(gitlab.DeploymentStatusRunning),
	}
	_, _, err = p.as("developer").Deployments.CreateProjectDeployment(id, record)
	refused(err, 403, "{message: 403 Forbidden}")
	waiting := must(client.Deployments.CreateProjectDeployment(id, record))
	same(waiting.Status, "blocked")
	approve := &gitlab.ApproveOrRejectProjectDeploymentOptions{Status: ptr(gitlab.DeploymentApprovalStatusApproved), Comment: ptr("Go")}
	_, err = client.Deployments.ApproveOrRejectProjectDeployment(id, waiting.ID, approve)
	refused(err, 400, "{message: The same user can not approve}")
	done(p.as("owner").Deployments.ApproveOrRejectProjectDeployment(id, waiting.ID, approve))
	same(must(client.Deployments.GetProjectDeployment(id, waiting.ID)).Status, "running")
	changed := must(api.UpdateProtectedEnvironments(id, "production", &gitlab.UpdateProtectedEnvironmentsOptions{
		DeployAccessLevels: &[]*gitlab.UpdateEnvironmentAccessOptions{
			{ID: &made.DeployAccessLevels[0].ID, Destroy: ptr(true)}, {UserID: ptr(p.People["developer"].ID)},
		},
	}))
	same([]any{len(changed.DeployAccessLevels), changed.DeployAccessLevels[0].UserID}, []any{1, p.People["developer"].ID})
	same(len(must(api.ListProtectedEnvironments(id, nil))), 1)
	done(api.UnprotectEnvironment(id, "production"))
	_, _, err = api.GetProtectedEnvironment(id, "production")
	refused(err, 404, "Not Found")

	groups, group := p.as("owner").GroupProtectedEnvironments, p.Group.ID
	tier := must(groups.ProtectGroupEnvironment(group, &gitlab.ProtectGroupEnvironmentOptions{
		Name: ptr("staging"), DeployAccessLevels: &[]*gitlab.GroupEnvironmentAccessOptions{{AccessLevel: maintainers}},
	}))
	same(must(groups.GetGroupProtectedEnvironment(group, "staging")), tier)
	record.Environment = ptr("staging")
	_, _, err = p.as("developer").Deployments.CreateProjectDeployment(id, record)
	refused(err, 403, "{message: 403 Forbidden}")
	done(groups.UnprotectGroupEnvironment(group, "staging"))
	same(len(must(groups.ListGroupProtectedEnvironments(group, nil))), 0)

	// In a freeze a deployment is still recorded, unless the project refuses it, which the client has no option for.
	now := time.Now().UTC()
	begun, ends := now.Add(-2*time.Hour), now.Add(2*time.Hour)
	must(client.FreezePeriods.CreateFreezePeriodOptions(id, &gitlab.CreateFreezePeriodOptions{
		FreezeStart: ptr(fmt.Sprintf("0 %d * * *", begun.Hour())), FreezeEnd: ptr(fmt.Sprintf("0 %d * * *", ends.Hour())),
	}))
	record.Environment = ptr("review/one")
	same(must(p.as("developer").Deployments.CreateProjectDeployment(id, record)).Status, "running")
}

func pipelines(p place) {
	client, id := p.newProject("Rill")
	api := client.Pipelines
	sha := must(client.Commits.GetCommit(id, "main", nil)).ID
	for _, name := range []string{"build", "test"} {
		must(client.Commits.SetCommitStatus(id, sha, &gitlab.SetCommitStatusOptions{State: gitlab.Success, Name: &name, Coverage: ptr(50.0), Description: ptr("By another CI")}))
	}
	listed := must(api.ListProjectPipelines(id, &gitlab.ListProjectPipelinesOptions{Status: ptr(gitlab.Success), SHA: &sha, Ref: ptr("main"), OrderBy: ptr("updated_at")}))
	same([]any{len(listed), listed[0].SHA, listed[0].Source}, []any{1, sha, "external"})
	pipeline := must(api.GetPipeline(id, listed[0].ID))
	same([]any{pipeline.DetailedStatus.Text, pipeline.Coverage, string(pipeline.Source)}, []any{"Passed", "50.00", "external"})
	same(must(api.GetLatestPipeline(id, &gitlab.GetLatestPipelineOptions{Ref: ptr("main")})).ID, pipeline.ID)
	same(must(client.Commits.GetCommit(id, sha, nil)).LastPipeline.ID, pipeline.ID)
	jobs, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Job, *gitlab.Response, error) {
		return client.Jobs.ListPipelineJobs(id, pipeline.ID, &gitlab.ListJobsOptions{ListOptions: gitlab.ListOptions{PerPage: 1}}, page)
	})
	check(err)
	same(len(jobs), 2)
	job := must(client.Jobs.GetJob(id, jobs[0].ID))
	same([]any{job.Pipeline.ID, job.Commit.ID, job.Coverage, job.Stage}, []any{pipeline.ID, sha, 50.0, "external"})
	same(len(must(client.Jobs.ListProjectJobs(id, &gitlab.ListJobsOptions{Scope: &[]gitlab.BuildStateValue{gitlab.Failed, gitlab.Canceled}}))), 0)
	same(len(must(client.Jobs.ListPipelineBridges(id, pipeline.ID, nil))), 0)
	same(len(must(api.GetPipelineVariables(id, pipeline.ID))), 0)
	same(must(api.GetPipelineTestReport(id, pipeline.ID)).TotalCount, int64(0))
	same(must(api.GetPipelineTestReportSummary(id, pipeline.ID)).Total.Count, int64(0))
	_, _, err = client.Jobs.GetTraceFile(id, job.ID)
	refused(err, 404, "Not Found")
	for _, refusal := range []error{
		failure(api.RetryPipelineBuild(id, pipeline.ID)),
		failure(api.CancelPipelineBuild(id, pipeline.ID)),
		failure(client.Jobs.PlayJob(id, job.ID, nil)),
	} {
		refused(refusal, 405, "{message: 405 Method Not Allowed}")
	}
	_, err = api.DeletePipeline(id, pipeline.ID)
	refused(err, 403, "{message: 403 Forbidden}")
	done(p.as("owner").Pipelines.DeletePipeline(id, pipeline.ID))
	same(len(must(client.Commits.GetCommitStatuses(id, sha, nil))), 0)
}

const configuration = `
stages: [build, deploy]
build: {stage: build, script: make}
ask: {stage: deploy, script: make ask, when: manual}
ship: {stage: deploy, script: make ship, needs: [], resource_group: production}
`

func running(p place) {
	client, id := p.newProject("Weir")
	must(p.as("owner").Commits.CreateCommit(id, &gitlab.CreateCommitOptions{
		Branch: ptr("main"), CommitMessage: ptr("Build"),
		Actions: []*gitlab.CommitActionOptions{{Action: ptr(gitlab.FileCreate), FilePath: ptr(".gitlab-ci.yml"), Content: ptr(configuration)}},
	}))
	same(must(client.Validate.ProjectLint(id, &gitlab.ProjectLintOptions{})).Valid, true)
	same(must(client.Validate.ProjectNamespaceLint(id, &gitlab.ProjectNamespaceLintOptions{Content: ptr("build: {}")})).Valid, false)
	pipeline := must(client.Pipelines.CreatePipeline(id, &gitlab.CreatePipelineOptions{
		Ref: ptr("main"), Variables: &[]*gitlab.PipelineVariableOptions{{Key: ptr("DEPTH"), Value: ptr("3")}},
	}))
	same(must(client.Pipelines.GetPipelineVariables(id, pipeline.ID))[0].Value, "3")
	jobs := map[string]int64{}
	for _, job := range must(client.Jobs.ListPipelineJobs(id, pipeline.ID, nil)) {
		jobs[job.Name] = job.ID
	}
	same(must(client.Jobs.CancelJob(id, jobs["build"], nil)).Status, "canceled")
	same(must(client.Jobs.RetryJob(id, jobs["build"])).Status, "pending")
	must(client.Jobs.EraseJob(id, jobs["build"]))
	refused(failure(client.Jobs.PlayJob(id, jobs["ship"], nil)), 400, "{message: 400 Bad request - Unplayable Job}")
	same(must(client.Pipelines.CancelPipelineBuild(id, pipeline.ID)).Status, "canceled")
	same(must(client.Pipelines.RetryPipelineBuild(id, pipeline.ID)).ID, pipeline.ID)
	groups := must(client.ResourceGroup.GetAllResourceGroupsForAProject(id))
	same([]any{len(groups), groups[0].Key}, []any{1, "production"})

	schedule := must(client.PipelineSchedules.CreatePipelineSchedule(id, &gitlab.CreatePipelineScheduleOptions{
		Description: ptr("Nightly"), Ref: ptr("main"), Cron: ptr("0 1 * * *"),
	}))
	must(client.PipelineSchedules.CreatePipelineScheduleVariable(id, schedule.ID, &gitlab.CreatePipelineScheduleVariableOptions{Key: ptr("DEPTH"), Value: ptr("3")}))
	done(client.PipelineSchedules.RunPipelineSchedule(id, schedule.ID))
	same(must(client.PipelineSchedules.GetPipelineSchedule(id, schedule.ID)).Variables[0].Key, "DEPTH")
	done(client.PipelineSchedules.DeletePipelineSchedule(id, schedule.ID))

	trigger := must(client.PipelineTriggers.AddPipelineTrigger(id, &gitlab.AddPipelineTriggerOptions{Description: ptr("From a library")}))
	started := must(client.PipelineTriggers.RunPipelineTrigger(id, &gitlab.RunPipelineTriggerOptions{Ref: ptr("main"), Token: &trigger.Token, Variables: map[string]string{"DEPTH": "3"}}))
	same(string(must(client.Pipelines.GetPipeline(id, started.ID)).Source), "trigger")
	done(client.PipelineTriggers.DeletePipelineTrigger(id, trigger.ID))

	token := must(client.Projects.GetProject(id, nil)).RunnersToken
	runner := must(client.Runners.RegisterNewRunner(&gitlab.RegisterNewRunnerOptions{Token: &token, Description: ptr("Small"), TagList: &[]string{"linux"}}))
	done(client.Runners.VerifyRegisteredRunner(&gitlab.VerifyRegisteredRunnerOptions{Token: &runner.Token}))
	same(must(client.Runners.UpdateRunnerDetails(runner.ID, &gitlab.UpdateRunnerDetailsOptions{Description: ptr("Large")})).Description, "Large")
	same(must(client.Runners.ListProjectRunners(id, nil))[0].ID, runner.ID)
	same(len(must(client.Runners.ListRunnerJobs(runner.ID, nil))), 0)
	done(client.Runners.RemoveRunner(runner.ID))
}

// failure gives the error of a call that answers something.
func failure[T any](_ T, _ *gitlab.Response, err error) error { return err }
