set local lock_timeout = '5s';

alter table bulk_import_entities
  -- The phase of the migration that comes next for it, which begins when no other entity is in an earlier one.
  add column phase integer not null default 0;
drop index bulk_import_entities_running;
create index bulk_import_entities_running on bulk_import_entities (bulk_import_id, phase, id) where state in ('created', 'started');
