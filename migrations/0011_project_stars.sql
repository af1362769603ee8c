create table project_stars (
  project_id bigint not null references projects on delete cascade,
  user_id    bigint not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
create index project_stars_by_user on project_stars (user_id, project_id);

-- In the database, because stars also disappear with their users.
create function count_stars() returns trigger language plpgsql as $$
begin
  update projects set star_count = star_count + case tg_op when 'INSERT' then 1 else -1 end
   where id = coalesce(new.project_id, old.project_id);
  return null;
end $$;
create trigger count_stars after insert or delete on project_stars for each row execute function count_stars();
