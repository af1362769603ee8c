-- Comments and what the product itself notes about changes, on issues and epics. Notes of one thread share their discussion.
create table notes (
  id                     bigint generated always as identity primary key,
  issue_id               bigint references issues on delete cascade,
  epic_id                bigint references epics on delete cascade,
  -- 40 hexadecimal digits: a discussion of its own, unless it joins another.
  discussion_id          text not null default replace(gen_random_uuid()::text || left(gen_random_uuid()::text, 8), '-', ''),
  -- Whether its discussion begins with it; that is what a page of discussions counts.
  starts_discussion      boolean not null default true,
  -- `DiscussionNote` in a thread, null for a single comment.
  type                   text check (type in ('DiscussionNote')),
  body                   text not null,
  author_id              bigint references users,
  -- Written by the product.
  system                 boolean not null default false,
  -- For members from Planner on.
  internal               boolean not null default false,
  -- Another issue or epic that the body speaks of: who may not read that one must not read the note.
  refers_to_issue_id     bigint references issues on delete cascade,
  refers_to_epic_id      bigint references epics on delete cascade,
  -- Whether it says that this one was mentioned there, which is said once.
  is_mention             boolean not null default false,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now(),
  constraint notes_have_one_noteable check (num_nonnulls(issue_id, epic_id) = 1)
);
create index notes_of_issue on notes (issue_id, created_at, id) where issue_id is not null;
create index notes_of_epic on notes (epic_id, created_at, id) where epic_id is not null;
create index notes_starting_on_issue on notes (issue_id, created_at, id) where issue_id is not null and starts_discussion;
create index notes_starting_on_epic on notes (epic_id, created_at, id) where epic_id is not null and starts_discussion;
create index notes_by_discussion on notes (discussion_id, created_at, id);
create unique index notes_one_start on notes (discussion_id) where starts_discussion;
create index notes_by_author on notes (author_id, id);
create unique index notes_one_mention on notes (issue_id, epic_id, refers_to_issue_id, refers_to_epic_id) nulls not distinct where is_mention;
create index notes_referring_to_issue on notes (refers_to_issue_id) where refers_to_issue_id is not null;
create index notes_referring_to_epic on notes (refers_to_epic_id) where refers_to_epic_id is not null;

create table award_emoji (
  id         bigint generated always as identity primary key,
  name       text not null,
  -- One ghost could not hold the votes of many.
  user_id    bigint not null references users on delete cascade,
  issue_id   bigint references issues on delete cascade,
  epic_id    bigint references epics on delete cascade,
  note_id    bigint references notes on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint award_emoji_have_one_awardable check (num_nonnulls(issue_id, epic_id, note_id) = 1)
);
create unique index award_emoji_of_issue on award_emoji (issue_id, name, user_id) where issue_id is not null;
create unique index award_emoji_of_epic on award_emoji (epic_id, name, user_id) where epic_id is not null;
create unique index award_emoji_of_note on award_emoji (note_id, name, user_id) where note_id is not null;
create index award_emoji_by_user on award_emoji (user_id, name);

-- What a user has decided for himself; without a row he is subscribed to what he takes part in.
create table subscriptions (
  id         bigint generated always as identity primary key,
  user_id    bigint not null references users on delete cascade,
  issue_id   bigint references issues on delete cascade,
  epic_id    bigint references epics on delete cascade,
  label_id   bigint references labels on delete cascade,
  subscribed boolean not null,
  created_at timestamptz not null default now(),
  constraint subscriptions_have_one_object check (num_nonnulls(issue_id, epic_id, label_id) = 1),
  constraint subscriptions_key unique nulls not distinct (user_id, issue_id, epic_id, label_id)
);
create index subscriptions_to_issue on subscriptions (issue_id) where issue_id is not null;
create index subscriptions_to_epic on subscriptions (epic_id) where epic_id is not null;
create index subscriptions_to_label on subscriptions (label_id) where label_id is not null;

-- Who is named in the description (no note) or in a note.
create table user_mentions (
  user_id  bigint not null references users on delete cascade,
  issue_id bigint references issues on delete cascade,
  epic_id  bigint references epics on delete cascade,
  note_id  bigint references notes on delete cascade,
  constraint user_mentions_key unique nulls not distinct (issue_id, epic_id, note_id, user_id)
);
create index user_mentions_by_user on user_mentions (user_id);
create index user_mentions_by_note on user_mentions (note_id) where note_id is not null;

create table todos (
  id          bigint generated always as identity primary key,
  user_id     bigint not null references users on delete cascade,
  project_id  bigint references projects on delete cascade,
  group_id    bigint references namespaces on delete cascade,
  author_id   bigint references users,
  action_name text not null check (action_name in ('assigned', 'mentioned', 'directly_addressed', 'marked', 'member_access_requested')),
  issue_id    bigint references issues on delete cascade,
  epic_id     bigint references epics on delete cascade,
  note_id     bigint references notes on delete cascade,
  state       text not null default 'pending' check (state in ('pending', 'done')),
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now()
);
create index todos_of_user on todos (user_id, state, id);
create index todos_on_issue on todos (issue_id, user_id) where issue_id is not null;
create index todos_on_epic on todos (epic_id, user_id) where epic_id is not null;
create index todos_by_note on todos (note_id) where note_id is not null;
create index todos_by_author on todos (author_id);
create index todos_by_project on todos (project_id);
create index todos_by_group on todos (group_id);
