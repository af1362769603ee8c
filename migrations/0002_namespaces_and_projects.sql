create table namespaces (
  id                         bigint generated always as identity primary key,
  kind                       text not null check (kind in ('user', 'group')),
  name                       text not null,
  path                       citext not null,
  full_path                  citext not null unique,
  -- The ids from the top-level namespace down to this one.
  traversal_ids              bigint[] not null,
  parent_id                  bigint references namespaces on delete restrict,
  owner_id                   bigint unique references users on delete cascade,
  description                text not null default '',
  visibility                 text not null default 'private' check (visibility in ('private', 'internal', 'public')),
  project_creation_level     text not null default 'developer'
                             check (project_creation_level in ('noone', 'owner', 'maintainer', 'developer', 'administrator')),
  subgroup_creation_level    text not null default 'maintainer' check (subgroup_creation_level in ('owner', 'maintainer')),
  default_branch             text,
  default_branch_protection  integer not null default 2 check (default_branch_protection between 0 and 4),
  membership_lock            boolean not null default false,
  share_with_group_lock      boolean not null default false,
  request_access_enabled     boolean not null default true,
  lfs_enabled                boolean not null default true,
  emails_enabled             boolean not null default true,
  mentions_disabled          boolean,
  created_at                 timestamptz not null default now(),
  updated_at                 timestamptz not null default now(),
  constraint namespaces_user_has_owner check ((kind = 'user') = (owner_id is not null))
);
-- People and top-level groups share names, groups of one parent do not.
create unique index namespaces_name_key on namespaces (parent_id, name) where parent_id is not null;
create index namespaces_by_parent on namespaces (parent_id, name, id);
create index namespaces_by_ancestor on namespaces using gin (traversal_ids);
create index namespaces_in_order on namespaces (name, id) where kind = 'group';
create index namespaces_search on namespaces using gin (name gin_trgm_ops, (full_path::text) gin_trgm_ops);

create table projects (
  id                             bigint generated always as identity primary key,
  namespace_id                   bigint not null references namespaces on delete restrict,
  name                           text not null,
  path                           citext not null,
  full_path                      citext not null unique,
  description                    text,
  visibility                     text not null default 'private' check (visibility in ('private', 'internal', 'public')),
  creator_id                     bigint references users,
  storage                        text not null default 'default',
  default_branch                 text not null,
  empty_repo                     boolean not null default true,
  repository_object_format       text not null default 'sha1' check (repository_object_format in ('sha1', 'sha256')),
  archived                       boolean not null default false,
  topics                         text[] not null default '{}',
  star_count                     integer not null default 0,
  issues_access_level            text not null default 'enabled' check (issues_access_level in ('disabled', 'private', 'enabled')),
  repository_access_level        text not null default 'enabled' check (repository_access_level in ('disabled', 'private', 'enabled')),
  merge_requests_access_level    text not null default 'enabled' check (merge_requests_access_level in ('disabled', 'private', 'enabled')),
  forking_access_level           text not null default 'enabled' check (forking_access_level in ('disabled', 'private', 'enabled')),
  snippets_access_level          text not null default 'enabled' check (snippets_access_level in ('disabled', 'private', 'enabled')),
  environments_access_level      text not null default 'enabled' check (environments_access_level in ('disabled', 'private', 'enabled')),
  request_access_enabled         boolean not null default true,
  lfs_enabled                    boolean not null default true,
  emails_enabled                 boolean not null default true,
  last_activity_at               timestamptz not null default now(),
  created_at                     timestamptz not null default now(),
  updated_at                     timestamptz not null default now(),
  constraint projects_name_key unique (namespace_id, name)
);
create index projects_by_namespace on projects (namespace_id, id);
-- One for each order of the list.
create index projects_by_name on projects (name, id);
create index projects_by_path on projects (path, id);
create index projects_by_update on projects (updated_at, id);
create index projects_by_activity on projects (last_activity_at, id);
create index projects_by_stars on projects (star_count, id);
create index projects_by_creator on projects (creator_id);
create index projects_public on projects (id) where visibility <> 'private';
create index projects_by_topic on projects using gin (topics);
create index projects_search on projects using gin
  (name gin_trgm_ops, (path::text) gin_trgm_ops, (full_path::text) gin_trgm_ops, description gin_trgm_ops);
