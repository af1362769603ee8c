-- An issue, epic or merge request that arrives from another server brings its comments and reactions with it, and is inserted with their numbers:
-- the transaction says so, and the triggers do not write its row again for each of them.
create function arrives_counted() returns boolean language sql stable as $$
  select coalesce(current_setting('coppice.arrives_counted', true), '') = 'yes'
$$;

drop trigger count_note on notes;
create trigger count_note after insert on notes for each row
  when (not new.system and not arrives_counted()) execute function keep_user_notes_count();

drop trigger count_vote on award_emoji;
create trigger count_vote after insert on award_emoji for each row
  when (new.name in ('thumbsup', 'thumbsdown') and not arrives_counted()) execute function keep_votes();
