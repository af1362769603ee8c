-- outside a transaction
-- With the state, what decides who sees an issue, and whether it has labels and assignees: then a far page is found in the index alone, in a third of the time of reading the rows before it.
-- Each is built before the one that it replaces is dropped, because servers read lists meanwhile.
set lock_timeout = '10min';
drop index concurrently if exists issues_in_order_new;
create index concurrently issues_in_order_new on issues (project_id, created_at, id) include (state, confidential, is_labelled, is_assigned, author_id);
drop index concurrently if exists issues_in_order;
alter index issues_in_order_new rename to issues_in_order;
drop index concurrently if exists issues_by_update_new;
create index concurrently issues_by_update_new on issues (project_id, updated_at, id) include (state, confidential, is_labelled, is_assigned, author_id);
drop index concurrently if exists issues_by_update;
alter index issues_by_update_new rename to issues_by_update;
drop index concurrently if exists issues_by_position_new;
create index concurrently issues_by_position_new on issues (project_id, relative_position, id) include (state, confidential, is_labelled, is_assigned, author_id) where relative_position is not null;
drop index concurrently if exists issues_by_position;
alter index issues_by_position_new rename to issues_by_position;
drop index concurrently if exists issues_by_due_date_new;
create index concurrently issues_by_due_date_new on issues (project_id, due_date, id) include (state, confidential, is_labelled, is_assigned, author_id) where due_date is not null;
drop index concurrently if exists issues_by_due_date;
alter index issues_by_due_date_new rename to issues_by_due_date;
drop index concurrently if exists issues_by_weight_new;
create index concurrently issues_by_weight_new on issues (project_id, weight, id) include (state, confidential, is_labelled, is_assigned, author_id) where weight is not null;
drop index concurrently if exists issues_by_weight;
alter index issues_by_weight_new rename to issues_by_weight;
drop index concurrently if exists issues_by_weight_first_new;
create index concurrently issues_by_weight_first_new on issues (project_id, weight, id desc) include (state, confidential, is_labelled, is_assigned, author_id) where weight is not null;
drop index concurrently if exists issues_by_weight_first;
alter index issues_by_weight_first_new rename to issues_by_weight_first;
drop index concurrently if exists issues_by_label_priority_new;
create index concurrently issues_by_label_priority_new on issues (project_id, label_priority, id) include (milestone_due_date, state, confidential, is_labelled, is_assigned, author_id) where label_priority is not null;
drop index concurrently if exists issues_by_label_priority;
alter index issues_by_label_priority_new rename to issues_by_label_priority;
drop index concurrently if exists issues_by_label_priority_first_new;
create index concurrently issues_by_label_priority_first_new on issues (project_id, label_priority, id desc) include (milestone_due_date, state, confidential, is_labelled, is_assigned, author_id) where label_priority is not null;
drop index concurrently if exists issues_by_label_priority_first;
alter index issues_by_label_priority_first_new rename to issues_by_label_priority_first;
drop index concurrently if exists issues_by_votes_new;
create index concurrently issues_by_votes_new on issues (project_id, upvotes, id) include (weight, due_date, state, confidential, is_labelled, is_assigned, author_id) where upvotes > 0;
drop index concurrently if exists issues_by_votes;
alter index issues_by_votes_new rename to issues_by_votes;
drop index concurrently if exists issues_by_milestone_due_new;
create index concurrently issues_by_milestone_due_new on issues (project_id, milestone_due_date, label_priority, id desc) include (state, confidential, is_labelled, is_assigned, author_id) where milestone_due_date is not null;
drop index concurrently if exists issues_by_milestone_due;
alter index issues_by_milestone_due_new rename to issues_by_milestone_due;
drop index concurrently if exists issues_by_priority_new;
create index concurrently issues_by_priority_new on issues (project_id, milestone_due_date desc, label_priority desc nulls last, id desc) include (state, confidential, is_labelled, is_assigned, author_id) where milestone_due_date is not null;
drop index concurrently if exists issues_by_priority;
alter index issues_by_priority_new rename to issues_by_priority;
drop index concurrently if exists issues_by_milestone_due_last_new;
create index concurrently issues_by_milestone_due_last_new on issues (project_id, milestone_due_date, id) include (state, confidential, is_labelled, is_assigned, author_id) where milestone_due_date is not null;
drop index concurrently if exists issues_by_milestone_due_last;
alter index issues_by_milestone_due_last_new rename to issues_by_milestone_due_last;
-- An index of an expression answers alone only if it has the column, too.
drop index concurrently if exists issues_by_title_new;
create index concurrently issues_by_title_new on issues (project_id, lower(title), id) include (title, state, confidential, is_labelled, is_assigned, author_id);
drop index concurrently if exists issues_by_title;
alter index issues_by_title_new rename to issues_by_title;
-- With what lists in the order of milestones are often narrowed by, whose issues may come last in it.
drop index concurrently if exists issues_by_milestone_due_first_new;
create index concurrently issues_by_milestone_due_first_new on issues (project_id, milestone_due_date, id desc)
  include (label_priority, weight, due_date, state, confidential, is_labelled, is_assigned, author_id) where milestone_due_date is not null;
drop index concurrently if exists issues_by_milestone_due_first;
alter index issues_by_milestone_due_first_new rename to issues_by_milestone_due_first;
-- With the values by which lists end with the issues that have none, by id.
drop index concurrently if exists issues_by_id_new;
create index concurrently issues_by_id_new on issues (project_id, id)
  include (milestone_due_date, label_priority, due_date, weight, relative_position, upvotes, state, confidential, is_labelled, is_assigned, author_id);
drop index concurrently if exists issues_by_id;
alter index issues_by_id_new rename to issues_by_id;
-- Few of the open issues lack a label or an assignee. Whether an older row does is not known.
drop index concurrently if exists issues_open_unlabelled;
create index concurrently issues_open_unlabelled on issues (project_id, id) where state = 'opened' and is_labelled is not true;
drop index concurrently if exists issues_open_unassigned;
create index concurrently issues_open_unassigned on issues (project_id, id) where state = 'opened' and is_assigned is not true;
drop index concurrently if exists issues_to_fill;
create index concurrently issues_to_fill on issues (id) where is_labelled is null or is_assigned is null;
reset lock_timeout;
