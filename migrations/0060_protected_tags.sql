-- Tags that not everybody who may push to a project may make, by name; `*` in it stands for any characters.
create table protected_tags (
  id                  bigint generated always as identity primary key,
  project_id          bigint not null references projects on delete cascade,
  name                text not null,
  -- Who may make such a tag: members from this level on, 0 nobody.
  create_access_level integer not null check (create_access_level in (0, 30, 40)),
  created_at          timestamptz not null default now(),
  constraint protected_tags_name_key unique (project_id, name)
);
