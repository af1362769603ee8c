-- outside a transaction
-- Almost every issue has a place, so a list in this order looked through all issues of each project for those without.
set lock_timeout = '10min';
drop index concurrently if exists issues_without_place;
create index concurrently issues_without_place on issues (project_id, id) where relative_position is null;
reset lock_timeout;
