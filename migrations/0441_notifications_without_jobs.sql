-- Notifications are collected together. Those that have a job of their own are not: the ones from before, and the ones that failed together with others.
alter table notifications add column is_alone boolean not null default false;
update notifications set is_alone = true;
alter table notifications drop column job_id;
create index notifications_waiting on notifications (created_at, id) where not is_alone;
