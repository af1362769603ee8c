-- outside a transaction
drop index concurrently if exists commit_statuses_bridges;
create index concurrently commit_statuses_bridges on commit_statuses using btree (pipeline_id, id) where kind = 'bridge';
drop index concurrently if exists commit_statuses_open_bridges;
create index concurrently commit_statuses_open_bridges on commit_statuses using btree (id) where kind = 'bridge' and status in ('pending', 'running');
