package main

import (
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

func featureFlags(p place) {
	client, id := p.as("developer"), p.Project.ID
	flags, lists := client.ProjectFeatureFlags, client.FeatureFlagUserLists
	list := must(lists.CreateFeatureFlagUserList(id, &gitlab.CreateFeatureFlagUserListOptions{Name: "Testers", UserXIDs: "ada,bob"}))
	_, _, err := lists.CreateFeatureFlagUserList(id, &gitlab.CreateFeatureFlagUserListOptions{Name: "Testers", UserXIDs: "eve"})
	refused(err, 400, "{message: [Name has already been taken]}")
	must(lists.UpdateFeatureFlagUserList(id, list.IID, &gitlab.UpdateFeatureFlagUserListOptions{Name: "Testers", UserXIDs: "ada"}))
	same(must(lists.GetFeatureFlagUserList(id, list.IID)).UserXIDs, "ada")

	made := must(flags.CreateProjectFeatureFlag(id, &gitlab.CreateProjectFeatureFlagOptions{
		Name: ptr("ripening"), Description: ptr("Ripens"), Version: ptr("new_version_flag"),
		Strategies: &[]*gitlab.FeatureFlagStrategyOptions{
			{Name: ptr("gitlabUserList"), UserListID: &list.ID, Parameters: &gitlab.ProjectFeatureFlagStrategyParameter{}},
			{
				Name:       ptr("flexibleRollout"),
				Parameters: &gitlab.ProjectFeatureFlagStrategyParameter{GroupID: "default", Rollout: "40", Stickiness: "userId"},
				Scopes:     &[]*gitlab.ProjectFeatureFlagScope{{EnvironmentScope: "production"}},
			},
		},
	}))
	same([]any{made.Active, len(made.Strategies)}, []any{true, 2})
	same(made.Strategies[0].UserList.Name, "Testers")
	same([]string{made.Strategies[1].Parameters.Rollout, made.Strategies[1].Scopes[0].EnvironmentScope}, []string{"40", "production"})
	_, _, err = flags.CreateProjectFeatureFlag(id, &gitlab.CreateProjectFeatureFlagOptions{Name: ptr("No")})
	refused(err, 400, "Name can contain only lowercase letters")
	_, err = lists.DeleteFeatureFlagUserList(id, list.IID)
	refused(err, 409, "{message: [User list is associated with a strategy]}")

	changed := must(flags.UpdateProjectFeatureFlag(id, "ripening", &gitlab.UpdateProjectFeatureFlagOptions{
		Active: ptr(false), Strategies: &[]*gitlab.FeatureFlagStrategyOptions{{ID: &made.Strategies[0].ID, Destroy: ptr(true)}},
	}))
	same([]any{changed.Active, len(changed.Strategies)}, []any{false, 1})
	must(flags.CreateProjectFeatureFlag(id, &gitlab.CreateProjectFeatureFlagOptions{Name: ptr("sowing")}))
	all, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.ProjectFeatureFlag, *gitlab.Response, error) {
		return flags.ListProjectFeatureFlags(id, &gitlab.ListProjectFeatureFlagOptions{ListOptions: gitlab.ListOptions{PerPage: 1}}, page)
	})
	check(err)
	same(namesOf(all, func(flag *gitlab.ProjectFeatureFlag) string { return flag.Name }), []string{"ripening", "sowing"})
	same(len(must(flags.ListProjectFeatureFlags(id, &gitlab.ListProjectFeatureFlagOptions{Scope: ptr("enabled")}))), 1)
	done(lists.DeleteFeatureFlagUserList(id, list.IID))
	same(len(must(lists.ListFeatureFlagUserLists(id, nil))), 0)
	_, err = p.as("reporter").ProjectFeatureFlags.DeleteProjectFeatureFlag(id, "ripening")
	refused(err, 403, "{message: 403 Forbidden}")
	done(flags.DeleteProjectFeatureFlag(id, "ripening"))
	_, _, err = flags.GetProjectFeatureFlag(id, "ripening")
	refused(err, 404, "Not Found")
}

func mirrors(p place) {
	client, id := p.newProject("Rowan")
	api, masked := client.ProjectMirrors, "https://*****:*****@host.example/a.git"
	_, _, err := api.AddProjectMirror(id, &gitlab.AddProjectMirrorOptions{URL: ptr("ftp://host.example/a.git")})
	refused(err, 400, "{message: {url: [is blocked: Only allowed schemes are http, https, ssh, git]}}")
	made := must(api.AddProjectMirror(id, &gitlab.AddProjectMirrorOptions{URL: ptr("https://rowan:secret@host.example/a.git"), MirrorBranchRegex: ptr("^main$")}))
	same([]any{made.URL, made.Enabled, made.MirrorBranchRegex, made.AuthMethod}, []any{masked, false, "^main$", "password"})
	_, err = api.ForcePushMirrorUpdate(id, made.ID)
	refused(err, 400, "Cannot proceed with the push mirroring")
	changed := must(api.EditProjectMirror(id, made.ID, &gitlab.EditProjectMirrorOptions{KeepDivergentRefs: ptr(true), Enabled: ptr(true)}))
	same([]any{changed.KeepDivergentRefs, changed.Enabled}, []any{true, true})
	done(api.ForcePushMirrorUpdate(id, made.ID))
	same(must(api.GetProjectMirror(id, made.ID)).UpdateStatus, "scheduled")
	withKey := must(api.AddProjectMirror(id, &gitlab.AddProjectMirrorOptions{URL: ptr("ssh://git@host.example/a.git"), AuthMethod: ptr("ssh_public_key")}))
	same(must(api.GetProjectMirrorPublicKey(id, withKey.ID)).PublicKey[:12], "ssh-ed25519 ")
	_, _, err = api.GetProjectMirrorPublicKey(id, made.ID)
	refused(err, 404, "Not Found")
	same(len(must(api.ListProjectMirror(id, nil))), 2)
	done(api.DeleteProjectMirror(id, made.ID))
	_, _, err = api.GetProjectMirror(id, made.ID)
	refused(err, 404, "Not Found")

	projects := client.Projects
	_, _, err = projects.GetProjectPullMirrorDetails(id)
	refused(err, 400, "{message: The project is not mirrored}")
	_, err = projects.StartMirroringProject(id)
	refused(err, 400, "{message: The project is not mirrored}")
	pulled := must(projects.ConfigureProjectPullMirror(id, &gitlab.ConfigureProjectPullMirrorOptions{
		Enabled: ptr(true), URL: ptr("https://host.example/b.git"), AuthUser: ptr("rowan"), AuthPassword: ptr("secret"), OnlyMirrorProtectedBranches: ptr(true),
	}))
	same([]any{pulled.URL, pulled.Enabled, pulled.OnlyMirrorProtectedBranches}, []any{"https://*****:*****@host.example/b.git", true, true})
	done(projects.StartMirroringProject(id))
	same(must(projects.GetProjectPullMirrorDetails(id)).ID, pulled.ID)
	same(must(projects.GetProject(id, nil)).Mirror, true)
}

func applications(p place) {
	api := p.as("admin").Applications
	given := gitlab.CreateApplicationOptions{Name: ptr("Orchard map"), RedirectURI: ptr("https://map.example.com/callback"), Scopes: ptr("openid read_user"), Confidential: ptr(true)}
	made := must(api.CreateApplication(&given))
	same([]any{made.ApplicationName, made.CallbackURL, made.Confidential, made.Secret[:6]}, []any{"Orchard map", "https://map.example.com/callback", true, "gloas-"})
	var found []string
	for _, each := range must(api.ListApplications(&gitlab.ListApplicationsOptions{})) {
		if each.ID == made.ID {
			found = append(found, each.ApplicationID, each.Secret)
		}
	}
	same(found, []string{made.ApplicationID, ""})
	renewed := must(api.RenewApplicationSecret(made.ID))
	same([]any{renewed.ID, renewed.Secret != made.Secret}, []any{made.ID, true})
	given.RedirectURI = ptr("/callback")
	_, _, err := api.CreateApplication(&given)
	refused(err, 400, "{message: {redirect_uri: [must be an absolute URI.]}}")
	_, _, err = p.as("owner").Applications.ListApplications(&gitlab.ListApplicationsOptions{})
	refused(err, 403, "{message: 403 Forbidden}")
	done(api.DeleteApplication(made.ID))
	_, err = api.DeleteApplication(made.ID)
	refused(err, 404, "Not Found")
}

func groupLinks(p place) {
	groups, id := p.as("owner").Groups, p.Group.ID
	directory := gitlab.AddGroupLDAPLinkOptions{Provider: ptr("directory"), CN: ptr("cooks"), GroupAccess: ptr(gitlab.DeveloperPermissions)}
	link := must(groups.AddGroupLDAPLink(id, &directory))
	same([]any{link.CN, link.Provider, link.GroupAccess}, []any{"cooks", "directory", gitlab.DeveloperPermissions})
	filter := gitlab.AddGroupLDAPLinkOptions{Provider: ptr("directory"), Filter: ptr("(title=cook)"), GroupAccess: ptr(gitlab.GuestPermissions)}
	must(groups.AddGroupLDAPLink(id, &filter))
	same(len(must(groups.ListGroupLDAPLinks(id))), 2)
	done(groups.SyncGroupWithLDAP(id))
	done(groups.DeleteGroupLDAPLinkWithCNOrFilter(id, &gitlab.DeleteGroupLDAPLinkWithCNOrFilterOptions{Provider: ptr("directory"), Filter: filter.Filter}))
	done(groups.DeleteGroupLDAPLinkForProvider(id, "directory", "cooks"))
	must(groups.AddGroupLDAPLink(id, &directory))
	done(groups.DeleteGroupLDAPLink(id, "cooks"))
	_, err := groups.DeleteGroupLDAPLink(id, "cooks")
	refused(err, 404, "Not Found")

	saml := gitlab.AddGroupSAMLLinkOptions{SAMLGroupName: ptr("the cooks"), AccessLevel: ptr(gitlab.MaintainerPermissions)}
	same(must(groups.AddGroupSAMLLink(id, &saml)).Name, "the cooks")
	same(must(groups.GetGroupSAMLLink(id, "the cooks")).AccessLevel, gitlab.MaintainerPermissions)
	same(len(must(groups.ListGroupSAMLLinks(id))), 1)
	done(groups.DeleteGroupSAMLLink(id, "the cooks"))
	_, _, err = groups.GetGroupSAMLLink(id, "the cooks")
	refused(err, 404, "Not Found")
}
