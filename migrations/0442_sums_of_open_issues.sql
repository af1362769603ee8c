-- Tells the sums from the changes since, which are added up every two seconds.
alter table open_issue_counts add column is_sum boolean not null default false;
create index open_issue_counts_to_add_up on open_issue_counts (project_id) where not is_sum;
