-- Wikis: repositories of projects and groups, created by the first write.
create table wikis (
  id             bigint generated always as identity primary key,
  project_id     bigint unique references projects on delete cascade,
  group_id       bigint unique references namespaces on delete cascade,
  storage        text not null,
  default_branch text not null,
  size_bytes     bigint not null default 0 check (size_bytes >= 0),
  created_at     timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1)
);

-- Where the branches and tags of wikis are, as `recorded_refs` says of projects.
create table recorded_wiki_refs (
  wiki_id   bigint references wikis on delete cascade,
  ref       text,
  target    text not null,
  update_id bigint not null,
  primary key (wiki_id, ref)
);

-- Where the repositories that a group has itself are created.
alter table namespaces add column repository_storage text not null default 'default';

alter table reference_updates
  add column wiki_id bigint references wikis on delete cascade,
  drop constraint reference_updates_owner,
  add constraint reference_updates_owner check (num_nonnulls(project_id, snippet_id, wiki_id) = 1);
alter table reference_updates rename column snippet_changes to changes;
create index reference_updates_by_wiki on reference_updates (wiki_id) where wiki_id is not null;

-- Repositories of all kinds that belong to nothing, or to nothing yet: a job deletes them once they are due.
drop trigger keep_unused_repository on snippets;
drop function keep_unused_repository;
drop index unused_repositories_by_age;
alter table unused_repositories rename column snippet_id to id;
alter table unused_repositories rename column since to due_at;
alter table unused_repositories
  alter column due_at drop default,
  add column kind text not null default 'snippet',
  drop constraint unused_repositories_pkey,
  add primary key (kind, id, storage);
alter table unused_repositories alter column kind drop default;
create index unused_repositories_by_time on unused_repositories (due_at);

-- Whatever takes the owner away: itself, its project, its group, its user.
create function keep_unused_repository() returns trigger language plpgsql as $$
begin
  insert into unused_repositories (kind, id, storage, due_at) select tg_argv[0], id, storage, now() from removed
      on conflict (kind, id, storage) do update set due_at = now();
  return null;
end $$;
create trigger keep_unused_repository after delete on projects referencing old table as removed
  for each statement execute function keep_unused_repository('project');
create trigger keep_unused_repository after delete on snippets referencing old table as removed
  for each statement execute function keep_unused_repository('snippet');
create trigger keep_unused_repository after delete on wikis referencing old table as removed
  for each statement execute function keep_unused_repository('wiki');

-- What earlier versions have left to a job of their own.
with left_over as (
  delete from graphile_worker._private_jobs jobs using graphile_worker._private_tasks tasks
   where tasks.id = jobs.task_id and tasks.identifier = 'delete_repositories'
  returning jobs.payload
)
insert into unused_repositories (kind, id, storage, due_at)
select 'project', (repository->>'id')::bigint, repository->>'storage', now()
  from left_over, json_array_elements(payload->'repositories') repository
    on conflict do nothing;

-- Maintenance names the kind of the owner.
update graphile_worker._private_jobs jobs set payload = json_build_object('kind', 'project', 'id', payload->'project_id')
  from graphile_worker._private_tasks tasks where tasks.id = jobs.task_id and tasks.identifier = 'maintain_repository';
delete from graphile_worker._private_jobs jobs using graphile_worker._private_tasks tasks
 where tasks.id = jobs.task_id and tasks.identifier = 'maintain_snippet';
