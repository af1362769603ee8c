package main

import (
	"fmt"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

// namesOf gives what a function says of each element of a list.
func namesOf[T any](list []T, name func(T) string) []string {
	names := []string{}
	for _, one := range list {
		names = append(names, name(one))
	}
	return names
}

func boards(p place) {
	api, id := p.as("reporter"), p.Project.ID
	var labels []int64
	for _, name := range []string{"todo", "doing"} {
		labels = append(labels, must(api.Labels.CreateLabel(id, &gitlab.CreateLabelOptions{Name: &name, Color: ptr("#aabbcc")})).ID)
	}
	board := must(api.Boards.CreateIssueBoard(id, &gitlab.CreateIssueBoardOptions{Name: ptr("Kanban")}))
	same([]any{board.Project.ID, len(board.Lists)}, []any{id, 0})
	var lists []int64
	for _, label := range labels {
		lists = append(lists, must(api.Boards.CreateIssueBoardList(id, board.ID, &gitlab.CreateIssueBoardListOptions{LabelID: &label})).ID)
	}
	_, _, err := api.Boards.CreateIssueBoardList(id, board.ID, &gitlab.CreateIssueBoardListOptions{LabelID: &labels[0]})
	refused(err, 400, "{message: {label_id: [has already been taken]}}")
	same(must(api.Boards.UpdateIssueBoardList(id, board.ID, lists[1], &gitlab.UpdateIssueBoardListOptions{Position: ptr(int64(0))})).Position, int64(0))
	nameOfList := func(list *gitlab.BoardList) string { return list.Label.Name }
	same(namesOf(must(api.Boards.GetIssueBoardLists(id, board.ID, nil)), nameOfList), []string{"doing", "todo"})
	_, err = api.Labels.DeleteLabel(id, "doing", nil)
	check(err)
	same(namesOf(must(api.Boards.GetIssueBoard(id, board.ID)).Lists, nameOfList), []string{"todo"})
	changed := must(api.Boards.UpdateIssueBoard(id, board.ID, &gitlab.UpdateIssueBoardOptions{
		Name: ptr("Harvest"), AssigneeID: ptr(p.People["developer"].ID), Labels: &gitlab.LabelOptions{"todo"}, Weight: ptr(int64(4)),
	}))
	same([]any{changed.Name, changed.Assignee.ID, changed.Labels[0].Name, changed.Weight}, []any{"Harvest", p.People["developer"].ID, "todo", int64(4)})
	must(api.Boards.CreateIssueBoard(id, &gitlab.CreateIssueBoardOptions{Name: ptr("Another")}))
	all, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.IssueBoard, *gitlab.Response, error) {
		return api.Boards.ListIssueBoards(id, &gitlab.ListIssueBoardsOptions{ListOptions: gitlab.ListOptions{PerPage: 1}}, page)
	})
	check(err)
	same(namesOf(all, func(board *gitlab.IssueBoard) string { return board.Name }), []string{"Another", "Harvest"})
	_, err = p.as("guest").Boards.DeleteIssueBoard(id, board.ID)
	refused(err, 403, "{message: 403 Forbidden}")
	done(api.Boards.DeleteIssueBoard(id, board.ID))
	_, _, err = api.Boards.GetIssueBoard(id, board.ID)
	refused(err, 404, "Not Found")

	groups, group := api.GroupIssueBoards, p.Group.ID
	ripe := must(api.GroupLabels.CreateGroupLabel(group, &gitlab.CreateGroupLabelOptions{Name: ptr("ripe"), Color: ptr("#aabbcc")}))
	ofGroup := must(groups.CreateGroupIssueBoard(group, &gitlab.CreateGroupIssueBoardOptions{Name: ptr("Orchard")}))
	same(ofGroup.Group.ID, group)
	list := must(groups.CreateGroupIssueBoardList(group, ofGroup.ID, &gitlab.CreateGroupIssueBoardListOptions{LabelID: &ripe.ID}))
	same(must(groups.GetGroupIssueBoardList(group, ofGroup.ID, list.ID)).Label.Name, "ripe")
	_, _, err = groups.UpdateIssueBoardList(group, ofGroup.ID, list.ID, &gitlab.UpdateGroupIssueBoardListOptions{Position: ptr(int64(9))})
	refused(err, 400, "List could not be moved!")
	done(groups.DeleteGroupIssueBoardList(group, ofGroup.ID, list.ID))
	same(len(must(groups.ListGroupIssueBoardLists(group, ofGroup.ID, nil))), 0)
	must(groups.UpdateIssueBoard(group, ofGroup.ID, &gitlab.UpdateGroupIssueBoardOptions{Name: ptr("Meadow")}))
	same(must(groups.ListGroupIssueBoards(group, nil))[0].Name, "Meadow")
	done(groups.DeleteIssueBoard(group, ofGroup.ID))
}

func search(p place) {
	client, id := p.newProject("Reed")
	api := client.Search
	issue := must(client.Issues.CreateIssue(id, &gitlab.CreateIssueOptions{Title: ptr("Cut the sedge_bed")}))
	must(client.Notes.CreateIssueNote(id, issue.IID, &gitlab.CreateIssueNoteOptions{Body: ptr("With a sedge_knife")}))
	must(client.RepositoryFiles.CreateFile(id, "bed.txt", &gitlab.CreateFileOptions{
		Branch: ptr("wet"), StartBranch: ptr("main"), Content: ptr("one\nsedge_bed\n"), CommitMessage: ptr("Plant the sedge_bed"),
	}))
	must(client.Milestones.CreateMilestone(id, &gitlab.CreateMilestoneOptions{Title: ptr("The sedge_harvest")}))
	must(client.Wikis.CreateWikiPage(id, &gitlab.CreateWikiPageOptions{Title: ptr("Home"), Content: ptr("All of the sedge_bed")}))
	found := []*gitlab.Issue{}
	found = append(found, must(api.Issues("sedge_bed", &gitlab.SearchOptions{}))...)
	found = append(found, must(api.IssuesByGroup(p.Group.ID, "sedge_bed", &gitlab.SearchOptions{}))...)
	found = append(found, must(api.IssuesByProject(id, fmt.Sprintf("#%d", issue.IID), &gitlab.SearchOptions{SearchType: ptr(gitlab.BasicSearch)}))...)
	same(namesOf(found, func(one *gitlab.Issue) string { return one.Title }), []string{issue.Title, issue.Title, issue.Title})
	same(must(api.Projects("Reed", &gitlab.SearchOptions{}))[0].ID, id)
	same(must(api.NotesByProject(id, "sedge_knife", &gitlab.SearchOptions{}))[0].NoteableIID, issue.IID)
	same(must(api.MilestonesByProject(id, "sedge", &gitlab.SearchOptions{}))[0].Title, "The sedge_harvest")
	same(must(api.WikiBlobsByProject(id, "sedge_bed", &gitlab.SearchOptions{}))[0] != nil, true)
	same(must(api.UsersByProject(id, p.People["developer"].Username, &gitlab.SearchOptions{}))[0].ID, p.People["developer"].ID)
	onWet := &gitlab.SearchOptions{Ref: ptr("wet"), ListOptions: gitlab.ListOptions{PerPage: 1}}
	blobs, response, err := api.BlobsByProject(id, "sedge_bed", onWet)
	check(err)
	same([]any{blobs[0].Path, blobs[0].Startline, blobs[0].Data, response.TotalItems}, []any{"bed.txt", int64(1), "one\nsedge_bed\n", int64(1)})
	same(must(api.CommitsByProject(id, "sedge_bed", onWet))[0].Title, "Plant the sedge_bed")
	same(len(must(api.BlobsByProject(id, "sedge_bed", &gitlab.SearchOptions{}))), 0)
	same(len(must(p.as("outsider").Search.Issues("sedge_bed", &gitlab.SearchOptions{}))), 0)
	_, _, err = api.Issues(" ", &gitlab.SearchOptions{})
	refused(err, 400, "{error: search is empty}")
	_, _, err = p.as("guest").Search.BlobsByProject(id, "sedge_bed", &gitlab.SearchOptions{})
	refused(err, 403, "{message: 403 Forbidden}")
}
