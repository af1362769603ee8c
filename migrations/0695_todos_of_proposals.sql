-- Whoever is asked whether work from another server is theirs has a to-do item besides the mail (docs/reference/placeholders.md#proposals).
alter table todos
  add placeholder_id bigint references placeholders (user_id) on delete cascade,
  drop constraint todos_action_name_check,
  add constraint todos_action_name_check
    check (action_name in ('assigned', 'mentioned', 'directly_addressed', 'marked', 'review_requested', 'member_access_requested', 'placeholder_proposed'));
create index todos_by_placeholder on todos (placeholder_id) where placeholder_id is not null;
