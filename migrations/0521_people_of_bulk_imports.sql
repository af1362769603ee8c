set local lock_timeout = '5s';

-- The people of a source, as it describes them.
create table bulk_import_people (
  entity_id    bigint not null references bulk_import_entities on delete cascade,
  source_id    bigint not null,
  username     text not null,
  name         text not null,
  public_email text,
  primary key (entity_id, source_id)
);

alter table bulk_imports
  -- The owner of the token at the source.
  add column source_user_id bigint;
alter table bulk_import_entities
  -- The ID of the group or project at the source.
  add column source_id bigint;
