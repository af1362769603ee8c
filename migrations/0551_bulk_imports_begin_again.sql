set local lock_timeout = '5s';

alter table bulk_import_relations
  -- Whether it begins again after failures, and passes over what is here.
  add column is_again boolean not null default false;
