-- outside a transaction
-- Lists of incidents, or by health, walked along all issues, of which hardly any may match.
set lock_timeout = '10min';
drop index concurrently if exists issues_by_type;
create index concurrently issues_by_type on issues (project_id, issue_type) where issue_type <> 'issue';
drop index concurrently if exists issues_by_health;
create index concurrently issues_by_health on issues (project_id, health_status) where health_status is not null;
reset lock_timeout;
