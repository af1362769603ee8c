-- People are reminded of merge requests whose pipeline has failed.
alter table todos
  drop constraint todos_action_name_check,
  add constraint todos_action_name_check check (action_name in (
    'assigned', 'mentioned', 'directly_addressed', 'marked', 'review_requested', 'member_access_requested', 'placeholder_proposed', 'build_failed'
  ));
