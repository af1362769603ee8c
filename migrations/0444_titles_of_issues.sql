-- outside a transaction
-- As merge requests have it: the order by title sorted all issues of an instance.
set lock_timeout = '10min';
drop index concurrently if exists issues_by_title;
create index concurrently issues_by_title on issues (project_id, lower(title), id);
reset lock_timeout;
