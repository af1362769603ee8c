-- outside a transaction
-- Where many issues have the same milestone, priority or weight, the newest come first in either direction. Lists of many projects sorted them for each project.
set lock_timeout = '10min';
drop index concurrently if exists issues_by_milestone_due_first;
create index concurrently issues_by_milestone_due_first on issues (project_id, milestone_due_date, id desc) where milestone_due_date is not null;
drop index concurrently if exists issues_by_milestone_due_last;
create index concurrently issues_by_milestone_due_last on issues (project_id, milestone_due_date, id) where milestone_due_date is not null;
drop index concurrently if exists issues_by_priority;
create index concurrently issues_by_priority on issues (project_id, milestone_due_date desc, label_priority desc nulls last, id desc) where milestone_due_date is not null;
drop index concurrently if exists issues_by_weight_first;
create index concurrently issues_by_weight_first on issues (project_id, weight, id desc) where weight is not null;
reset lock_timeout;
