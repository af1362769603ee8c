-- outside a transaction
-- Few priorities are shared by many rows, of which the newest come first in either direction.
set lock_timeout = '10min';
drop index concurrently if exists issues_by_label_priority_first;
create index concurrently issues_by_label_priority_first on issues (project_id, label_priority, id desc) where label_priority is not null;
drop index concurrently if exists merge_requests_by_label_priority_first;
create index concurrently merge_requests_by_label_priority_first on merge_requests (project_id, label_priority, id desc) where label_priority is not null;
reset lock_timeout;
