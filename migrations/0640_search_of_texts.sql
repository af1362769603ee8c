-- outside a transaction
-- Searches find a part of a text in any case. Comments are searched; what the server itself says about changes is not.
set lock_timeout = '10min';
drop index concurrently if exists notes_search;
create index concurrently notes_search on notes using gin (body gin_trgm_ops) with (gin_pending_list_limit = 2048) where not system;
drop index concurrently if exists milestones_search;
create index concurrently milestones_search on milestones using gin (title gin_trgm_ops, description gin_trgm_ops);
drop index concurrently if exists snippets_search;
create index concurrently snippets_search on snippets using gin (title gin_trgm_ops, description gin_trgm_ops);
reset lock_timeout;
