-- Broadcast messages: what administrators tell everybody, on pages and after pushes (docs/reference/broadcast_messages.md).
create table broadcast_messages (
  id                   bigint generated always as identity primary key,
  message              text not null,
  starts_at            timestamptz not null,
  ends_at              timestamptz not null,
  target_access_levels integer[] not null default '{}',
  target_path          text,
  broadcast_type       text not null default 'banner',
  theme                text not null default 'indigo',
  color                text,
  font                 text,
  dismissable          boolean not null default false,
  show_in_cli          boolean not null default true,
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now()
);
-- Pages keep the messages with the rights, so that they ask for none.
create trigger raise_rights_version after insert or update or delete on broadcast_messages for each statement execute function raise_rights_version();
