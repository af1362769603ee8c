-- The days on which people were told of issues that are due: once, whatever number of processes runs, and however often a job starts over.
create table due_notices (day date primary key);
-- Nobody has done anything when an issue is due.
alter table notifications alter column actor_id drop not null;
create index issues_that_are_due on issues (due_date) where state = 'opened' and due_date is not null;
