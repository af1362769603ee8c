-- Full paths that were given up, with what stood there. Whatever stands at a path now wins over its row here.
create table redirects (
  path         citext primary key,
  namespace_id bigint references namespaces on delete cascade,
  project_id   bigint references projects on delete cascade,
  created_at   timestamptz not null default now(),
  constraint redirects_one_target check (num_nonnulls(namespace_id, project_id) = 1)
);
create index redirects_by_namespace on redirects (namespace_id) where namespace_id is not null;
create index redirects_by_project on redirects (project_id) where project_id is not null;

-- In the database, because paths change in several ways, and all of what stands below a group or a user at once. Whoever takes a path ends what it led to
-- before: it must not lead there again when he is gone.
create function keep_old_path() returns trigger language plpgsql as $$
begin
  delete from redirects where path = new.full_path;
  if tg_op = 'UPDATE' then
    insert into redirects (path, namespace_id, project_id)
    values (old.full_path, case tg_table_name when 'namespaces' then new.id end, case tg_table_name when 'projects' then new.id end)
    on conflict (path) do update set namespace_id = excluded.namespace_id, project_id = excluded.project_id, created_at = now();
  end if;
  return null;
end $$;
create trigger keep_old_path after update of full_path on namespaces for each row
  when (old.full_path <> new.full_path) execute function keep_old_path();
create trigger free_path after insert on namespaces for each row execute function keep_old_path();
create trigger keep_old_path after update of full_path on projects for each row
  when (old.full_path <> new.full_path) execute function keep_old_path();
create trigger free_path after insert on projects for each row execute function keep_old_path();
