create extension if not exists citext;
create extension if not exists pg_trgm;

create table users (
  id                bigint generated always as identity primary key,
  username          citext not null unique,
  name              text not null,
  -- The primary address. Its case is kept, and two addresses that differ only in case are one.
  email             citext not null unique,
  -- An address that waits for its confirmation to take the place of the primary one.
  unconfirmed_email citext,
  state             text not null default 'active'
                    check (state in ('active', 'blocked', 'blocked_pending_approval', 'deactivated', 'banned')),
  user_type         text not null default 'human' check (user_type in ('human', 'ghost', 'project_bot')),
  admin             boolean not null default false,
  external          boolean not null default false,
  can_create_group  boolean not null default true,
  projects_limit    integer not null default 100000,
  private_profile   boolean not null default false,
  password_digest   text,
  bio               text not null default '',
  location          text not null default '',
  public_email      citext not null default '',
  -- Null: the primary address. `_private`: one that nobody gets mail under.
  commit_email      citext,
  linkedin          text not null default '',
  twitter           text not null default '',
  discord           text not null default '',
  github            text not null default '',
  website_url       text not null default '',
  organization      text not null default '',
  job_title         text not null default '',
  pronouns          text,
  note              text,
  theme_id          integer not null default 1,
  color_scheme_id   integer not null default 1,
  created_by_id     bigint references users on delete set null,
  confirmed_at      timestamptz,
  last_activity_on  date,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now()
);
-- What nobody stands behind any more belongs to one ghost.
create unique index users_one_ghost on users (user_type) where user_type = 'ghost';
create index users_by_name on users (name, id);
create index users_by_creation on users (created_at, id);
create index users_by_change on users (updated_at, id);
create index users_by_public_email on users (public_email) where public_email <> '';
create index users_name_search on users using gin (name gin_trgm_ops);
create index users_username_search on users using gin ((username::text) gin_trgm_ops);

-- What a user says of himself for a while. Without a row, or after the moment to clear it, there is no status.
create table user_statuses (
  user_id         bigint primary key references users on delete cascade,
  emoji           text not null default 'speech_balloon',
  message         text,
  availability    text not null default 'not_set' check (availability in ('not_set', 'busy')),
  clear_status_at timestamptz
);

create table personal_access_tokens (
  id            bigint generated always as identity primary key,
  user_id       bigint not null references users on delete cascade,
  name          text not null,
  description   text,
  scopes        text[] not null,
  -- SHA-256 of the value, which nobody can read again.
  token_digest  bytea not null unique,
  revoked       boolean not null default false,
  expires_at    date,
  impersonation boolean not null default false,
  -- The token that this one's rotations began with: using a revoked member ends the whole family.
  family_id     bigint references personal_access_tokens on delete cascade,
  last_used_at  timestamptz,
  last_used_ips inet[] not null default '{}',
  created_at    timestamptz not null default now()
);
create index personal_access_tokens_by_user on personal_access_tokens (user_id, id);
create index personal_access_tokens_by_family on personal_access_tokens (family_id) where family_id is not null;
