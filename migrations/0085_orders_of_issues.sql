-- What lists of issues are read by. A value that most issues lack is indexed where it is there: an issue without it costs nothing to add, and a list goes on with
-- those, by id, after the last that has it.
-- With what decides who sees an issue, so that a list is counted without its rows.
create index issues_in_order on issues (project_id, created_at, id) include (state, confidential, author_id);
create index issues_by_update on issues (project_id, updated_at, id);
create index issues_by_id on issues (project_id, id);
create index issues_by_due_date on issues (project_id, due_date, id) where due_date is not null;
create index issues_by_position on issues (project_id, relative_position, id) where relative_position is not null;
create index issues_by_weight on issues (project_id, weight, id) where weight is not null;
create index issues_by_label_priority on issues (project_id, label_priority, id) where label_priority is not null;
create index issues_by_milestone_due on issues (project_id, milestone_due_date, label_priority, id desc) where milestone_due_date is not null;
create index issues_by_votes on issues (project_id, upvotes, id) where upvotes > 0;
-- Of all projects.
create index issues_newest on issues (created_at, id);

-- With the project, because a common word is in too many issues of others.
create extension if not exists btree_gin;
-- What was written last is looked through row by row, and so must stay little.
create index issues_search on issues using gin (project_id, title gin_trgm_ops, description gin_trgm_ops) with (gin_pending_list_limit = 256);

-- Most milestones are of one project: taken for independent of it, their issues in it would seem to be next to none.
create statistics issues_by_project_and_milestone (dependencies) on project_id, milestone_id from issues;
