-- People who are invited by an address that no user has. An invitation grants nothing; whoever shows that the address is his becomes a member by it.
create table invitations (
  id             bigint generated always as identity primary key,
  group_id       bigint references namespaces on delete cascade,
  project_id     bigint references projects on delete cascade,
  invite_email   citext not null,
  access_level   integer not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  member_role_id bigint references member_roles on delete set null,
  -- The end of the membership: from 00:00 UTC of this day on it would not count, and so there is nothing left to accept.
  expires_at     date,
  created_by_id  bigint references users on delete set null,
  -- What the token in the link is made from. The token itself is not here.
  seed           uuid not null unique default gen_random_uuid(),
  -- How many reminders have been sent.
  reminders      integer not null default 0 check (reminders between 0 and 3),
  -- The day of the next one; null: there is none to come.
  remind_on      date,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  constraint invitations_one_source check (num_nonnulls(group_id, project_id) = 1),
  constraint invitations_minimal_in_groups check (access_level >= 10 or project_id is null),
  constraint invitations_group_key unique (group_id, invite_email),
  constraint invitations_project_key unique (project_id, invite_email)
);
create index invitations_by_group on invitations (group_id, id) where group_id is not null;
create index invitations_by_project on invitations (project_id, id) where project_id is not null;
create index invitations_by_address on invitations (invite_email, id);
create index invitations_by_creation on invitations (created_at);
create index invitations_to_remind on invitations (remind_on, id) where remind_on is not null;
create index invitations_expiring on invitations (expires_at) where expires_at is not null;
create index invitations_by_role on invitations (member_role_id) where member_role_id is not null;
create index invitations_by_creator on invitations (created_by_id) where created_by_id is not null;

-- What an inviter has yet to be told: who has declined. A row goes with its mail.
create table declined_invitations (
  id           bigint primary key,
  group_id     bigint references namespaces on delete cascade,
  project_id   bigint references projects on delete cascade,
  invite_email citext not null,
  inviter_id   bigint not null references users on delete cascade,
  declined_at  timestamptz not null default now(),
  constraint declined_invitations_one_source check (num_nonnulls(group_id, project_id) = 1)
);
create index declined_invitations_by_group on declined_invitations (group_id) where group_id is not null;
create index declined_invitations_by_project on declined_invitations (project_id) where project_id is not null;
create index declined_invitations_by_inviter on declined_invitations (inviter_id);

-- Roles that somebody was to get who would need a seat by it, and that wait for an administrator to decide.
create table member_approvals (
  id               bigint generated always as identity primary key,
  user_id          bigint not null references users on delete cascade,
  group_id         bigint references namespaces on delete cascade,
  project_id       bigint references projects on delete cascade,
  access_level     integer not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  member_role_id   bigint references member_roles on delete set null,
  expires_at       date,
  status           text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
  requested_by_id  bigint references users on delete set null,
  reviewed_by_id   bigint references users on delete set null,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  constraint member_approvals_one_source check (num_nonnulls(group_id, project_id) = 1)
);
-- Whoever asks again changes what he asks for.
create unique index member_approvals_group_key on member_approvals (group_id, user_id) where status = 'pending' and group_id is not null;
create unique index member_approvals_project_key on member_approvals (project_id, user_id) where status = 'pending' and project_id is not null;
create index member_approvals_by_status on member_approvals (status, id);
create index member_approvals_by_user on member_approvals (user_id);
create index member_approvals_by_group on member_approvals (group_id) where group_id is not null;
create index member_approvals_by_project on member_approvals (project_id) where project_id is not null;
create index member_approvals_by_role on member_approvals (member_role_id) where member_role_id is not null;
create index member_approvals_by_requester on member_approvals (requested_by_id) where requested_by_id is not null;
create index member_approvals_by_reviewer on member_approvals (reviewed_by_id) where reviewed_by_id is not null;
