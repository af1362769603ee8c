-- Releases: tags with a title, notes, links, milestones and evidence; and who can use them.
set local lock_timeout = '5s';

alter table projects
  add column releases_access_level text not null default 'enabled' check (releases_access_level in ('disabled', 'private', 'enabled'));

-- The level decides on rights as those of the other features do.
drop trigger raise_rights_version on projects;
create trigger raise_rights_version
  after insert or delete or update of
    namespace_id, name, path, full_path, visibility, storage, default_branch, empty_repo, archived, marked_for_deletion_at, import_status, freeze_blocks_pushes,
    issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level, snippets_access_level, environments_access_level,
    wiki_access_level, releases_access_level
  on projects for each statement execute function raise_rights_version();

create table releases (
  id          bigint generated always as identity primary key,
  project_id  bigint not null references projects on delete cascade,
  tag         text not null,
  name        text not null check (length(name) between 1 and 255),
  description text,
  author_id   bigint references users on delete set null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  -- In the future: upcoming. In the past when it was created: historical, without evidence.
  released_at timestamptz not null default now(),
  -- Whether evidence is collected when it is released.
  evidence_due boolean not null default false,
  unique (project_id, tag)
);
create index releases_project_released_idx on releases (project_id, released_at, id);
create index releases_project_created_idx on releases (project_id, created_at, id);
create index releases_released_idx on releases (released_at, id);
create index releases_author_idx on releases (author_id);
create index releases_evidence_due_idx on releases (released_at) where evidence_due;

create table release_links (
  id         bigint generated always as identity primary key,
  release_id bigint not null references releases on delete cascade,
  name       text not null,
  url        text not null,
  -- Begins with a slash; the link has an address of its own by it.
  filepath   text,
  link_type  text not null default 'other' check (link_type in ('other', 'runbook', 'image', 'package')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint release_links_name_key unique (release_id, name),
  constraint release_links_url_key unique (release_id, url),
  constraint release_links_filepath_key unique (release_id, filepath)
);
create index release_links_release_idx on release_links (release_id, id);

create table release_milestones (
  release_id   bigint not null references releases on delete cascade,
  milestone_id bigint not null references milestones on delete cascade,
  primary key (release_id, milestone_id)
);
create index release_milestones_milestone_idx on release_milestones (milestone_id);

-- What a release was when it was released: the text itself, since its hash is handed out.
create table release_evidences (
  id           bigint generated always as identity primary key,
  release_id   bigint not null references releases on delete cascade,
  summary      text not null,
  sha          text not null,
  collected_at timestamptz not null default now()
);
create index release_evidences_release_idx on release_evidences (release_id, id);
