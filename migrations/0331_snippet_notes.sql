-- Comments on snippets, reactions to them, and whom the comments mention. As in a description, a mention belongs to what is commented on; its note tells it apart.
alter table notes
  add column snippet_id bigint references snippets on delete cascade,
  drop constraint notes_have_one_noteable,
  add constraint notes_have_one_noteable check (num_nonnulls(issue_id, epic_id, commit_id, snippet_id) = 1);
create index notes_of_snippet on notes (snippet_id, created_at, id) where snippet_id is not null;
create index notes_starting_on_snippet on notes (snippet_id, created_at, id) where snippet_id is not null and starts_discussion;

alter table award_emoji
  add column snippet_id bigint references snippets on delete cascade,
  drop constraint award_emoji_have_one_awardable,
  add constraint award_emoji_have_one_awardable check (num_nonnulls(issue_id, epic_id, snippet_id, note_id) = 1);
create unique index award_emoji_of_snippet on award_emoji (snippet_id, name, user_id) where snippet_id is not null;
create index award_emoji_of_snippet_in_order on award_emoji (snippet_id, id) where snippet_id is not null;

alter table user_mentions
  add column snippet_id bigint references snippets on delete cascade;
create index user_mentions_by_snippet on user_mentions (snippet_id) where snippet_id is not null;
