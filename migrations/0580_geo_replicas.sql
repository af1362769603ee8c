-- What changed in repositories and files, for the secondaries: each looks at the record again. Nothing is recorded while there is none.
create table geo_events (
  id         bigint primary key generated always as identity,
  replicable text not null,
  -- The id of the owner of a repository, or the key of a blob.
  record     text not null,
  part       text not null generated always as (case when replicable like '%_repositories' then 'repositories' else 'files' end) stored,
  created_at timestamptz not null default now(),
  -- Whether the checksum of the record has been computed since.
  is_checked boolean not null default false
);
create index geo_events_unchecked on geo_events (part, id) where not is_checked;
create index geo_events_by_age on geo_events (created_at);

-- What the copies of the secondaries are compared with.
create table geo_checksums (
  replicable text,
  record     text,
  -- Of all refs and HEAD, or the SHA-256 of a blob. When it is found damaged, the one from before stays.
  checksum   text,
  -- The branch that HEAD of a repository points to.
  head       text,
  size_bytes bigint,
  -- The last event before it was computed.
  event_id   bigint not null default 0,
  checked_at timestamptz,
  due_at     timestamptz not null default now(),
  failure    text,
  is_missing boolean not null default false,
  part       text not null generated always as (case when replicable like '%_repositories' then 'repositories' else 'files' end) stored,
  primary key (replicable, record)
);
create index geo_checksums_by_time on geo_checksums (part, due_at, replicable, record);

-- The following tables are a site's own: what a secondary has copied, and how far a site has come.
create table geo_replicas (
  replicable                text,
  record                    text,
  state                     text not null default 'pending' check (state in ('pending', 'started', 'synced', 'failed')),
  -- The last event about it.
  event_id                  bigint not null default 0,
  checksum                  text,
  size_bytes                bigint,
  retry_count               integer not null default 0,
  -- When it is due; while it is started, when its run counts as dead.
  retry_at                  timestamptz not null default now(),
  last_synced_at            timestamptz,
  last_successful_sync_at   timestamptz,
  last_sync_failure         text,
  verification_state        text not null default 'pending' check (verification_state in ('pending', 'verified', 'failed')),
  verified_at               timestamptz,
  last_verification_failure text,
  missing_on_primary        boolean not null default false,
  created_at                timestamptz not null default now(),
  part                      text not null generated always as (case when replicable like '%_repositories' then 'repositories' else 'files' end) stored,
  is_retry                  boolean not null generated always as (retry_count > 0) stored,
  primary key (replicable, record)
);
-- In the order of the checksums, so that the first copy follows them.
create index geo_replicas_due on geo_replicas (part, is_retry, retry_at, replicable, record)
  where state <> 'synced';
create index geo_replicas_by_verification on geo_replicas (verified_at) where state = 'synced';

create table geo_cursors (
  name  text primary key,
  value text not null
);

create function record_geo_event(a_replicable text, a_record text) returns void language sql as $$
  insert into geo_events (replicable, record)
  select a_replicable, a_record where exists (select from geo_cursors where name = 'recording')
$$;

-- Of an owner that comes, goes or changes its place, and of refs that have moved: their row in the journal is deleted in the transaction that writes what follows.
create function record_repository_change() returns trigger language plpgsql as $$
declare
  changed record;
  a_wiki  bigint;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  case tg_table_name
    when 'projects' then perform record_geo_event('project_repositories', changed.id::text);
    when 'snippets' then perform record_geo_event('snippet_repositories', changed.id::text);
    when 'wikis' then
      perform record_geo_event(case when changed.project_id is null then 'group' else 'project' end || '_wiki_repositories', changed.id::text);
    when 'reference_updates' then
      if changed.project_id is not null then perform record_geo_event('project_repositories', changed.project_id::text);
      elsif changed.snippet_id is not null then perform record_geo_event('snippet_repositories', changed.snippet_id::text);
      else
        perform record_geo_event(case when project_id is null then 'group' else 'project' end || '_wiki_repositories', id::text)
           from wikis where id = changed.wiki_id;
      end if;
  end case;
  return null;
end $$;
create trigger record_change after insert or delete on projects for each row execute function record_repository_change();
create trigger record_other_place after update of storage on projects for each row
  when (old.storage <> new.storage) execute function record_repository_change();
-- Forks and imports fill a repository without the journal.
create trigger record_filling after update of empty_repo on projects for each row
  when (old.empty_repo and not new.empty_repo) execute function record_repository_change();
create trigger record_change after insert or delete on snippets for each row execute function record_repository_change();
create trigger record_other_place after update of storage on snippets for each row
  when (old.storage <> new.storage) execute function record_repository_change();
create trigger record_change after insert or delete on wikis for each row execute function record_repository_change();
create trigger record_other_place after update of storage on wikis for each row
  when (old.storage <> new.storage) execute function record_repository_change();
create trigger record_change after delete on reference_updates for each row execute function record_repository_change();

-- A blob is recorded as unused until a row has it, and again when the row goes.
create function record_blob_change() returns trigger language plpgsql as $$
begin
  perform record_geo_event('uploads', case when tg_op = 'DELETE' then old.key else new.key end);
  return null;
end $$;
create trigger record_change after insert or delete on unused_blobs for each row execute function record_blob_change();

create function record_lfs_change() returns trigger language plpgsql as $$
begin
  perform record_geo_event('lfs_objects', 'lfs/' || oid) from lfs_objects
    where id = case when tg_op = 'DELETE' then old.lfs_object_id else new.lfs_object_id end;
  return null;
end $$;
create trigger record_change after insert or delete on lfs_objects_projects for each row execute function record_lfs_change();

-- On a secondary, in the transaction that applies an event: from its commit on, the copy does not count as current. The path of names is empty there.
create function make_replica_due() returns trigger language plpgsql as $$
begin
  -- Loading a backup makes the trigger one for all changes.
  if current_setting('session_replication_role') <> 'replica' then return null; end if;
  insert into public.geo_replicas as replica (replicable, record, event_id) values (new.replicable, new.record, new.id)
      on conflict (replicable, record) do update
     set event_id = greatest(replica.event_id, excluded.event_id),
         state = case replica.state when 'started' then 'started' else 'pending' end,
         retry_at = case replica.state when 'started' then replica.retry_at else now() end,
         retry_count = case replica.state when 'started' then replica.retry_count else 0 end;
  return null;
end $$;
create trigger make_replica_due after insert on geo_events for each row execute function make_replica_due();
alter table geo_events enable replica trigger make_replica_due;

-- Which row has a blob.
create index users_by_avatar on users (avatar_key) where avatar_key is not null;
create index projects_by_avatar on projects (avatar_key) where avatar_key is not null;
create index namespaces_by_avatar on namespaces (avatar_key) where avatar_key is not null;
create index topics_by_avatar on topics (avatar_key) where avatar_key is not null;
create index issue_metric_images_by_blob on issue_metric_images (blob_key);
create index dependency_list_exports_by_blob on dependency_list_exports (blob_key) where blob_key is not null;
